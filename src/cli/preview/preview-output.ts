/** How a preview is printed: for people each event below its input, for scripts NDJSON, or counts alone. */
import { styleText } from 'node:util';
import type { PreviewedEvent } from '../../agent/preview/previewer.ts';
import { printable } from '../../config/quote.ts';
import type { Style } from '../client/output/event-lines.ts';

/** Styled where standard output is a terminal that shows colours. */
function paint(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout });
}

/** Its events are byte for byte as they would be sent. */
export function toJsonLine(
  { text, sent, datasets, before, refusals, isDropped }: PreviewedEvent,
  isDiff: boolean,
): string {
  const members = [`"input":${JSON.stringify(text)}`, `"events":[${sent.join(',')}]${datasetsMember(datasets)}`];
  if (isDiff) members.push(`"before":${before ?? 'null'}`);
  if (refusals.length > 0) members.push(`"dead_lettered":${JSON.stringify(refusals.join('; '))}`);
  if (isDropped) members.push('"dropped":true');
  return `{${members.join(',')}}\n`;
}

/** The datasets of events that `to_dataset` routes, as a member that follows another. */
export function datasetsMember(datasets: readonly string[] | undefined): string {
  return datasets ? `,"datasets":${JSON.stringify(datasets)}` : '';
}

/** The input line, and below it what becomes of it. */
export function toText({ text, sent, datasets, refusals, isDropped }: PreviewedEvent): string {
  const events = routed(sent, datasets).map((event) => `  ${paint('green', '→')} ${printable(event)}`);
  return lines([...inputLines(text), ...events, ...outcomeLines(sent, refusals, isDropped)]);
}

/** The input line, and below it the event before and after its transforms, or once where they are alike. */
export function toDiff({ text, sent, datasets, before, refusals, isDropped }: PreviewedEvent): string {
  return lines([
    ...inputLines(text),
    ...eventChange(before, sent, datasets),
    ...outcomeLines(sent, refusals, isDropped),
  ]);
}

/** An event before and after its transforms. */
export function eventChange(
  before: string | undefined,
  sent: readonly string[],
  datasets?: readonly string[],
): string[] {
  const events = routed(sent, datasets);
  if (sent.length === 1 && sent[0] === before) return [`  = ${printable(events[0]!)}`];
  return [
    ...(before === undefined ? [] : [paint('red', `  - ${printable(before)}`)]),
    ...events.map((event) => paint('green', `  + ${printable(event)}`)),
  ];
}

/** Each with the name of the dataset that it goes to. */
function routed(sent: readonly string[], datasets: readonly string[] | undefined): readonly string[] {
  return datasets ? sent.map((event, n) => `${datasets[n]}: ${event}`) : sent;
}

function inputLines(text: string): string[] {
  return text.split('\n').map((line) => paint('dim', line.split('\t').map(printable).join('\t')));
}

/** What became of an event that is not sent. */
export function outcomeLines(sent: readonly string[], refusals: readonly string[], isDropped: boolean): string[] {
  if (refusals.length > 0) return refusals.map((reason) => `  ${paint('red', '✗')} dead letter: ${printable(reason)}`);
  if (isDropped) return [`  ${paint('red', '✗')} dropped: its transform failed`];
  return sent.length === 0 ? [`  ${paint('yellow', '·')} filtered`] : [];
}

function lines(all: readonly string[]): string {
  return `${all.join('\n')}\n`;
}
