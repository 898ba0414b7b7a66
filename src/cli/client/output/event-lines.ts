/**
 * Events as lines for a person: time, severity, source, message, then the other fields as `key=value`, wrapped at words. Which field is which
 * the explorer decides in the same way. Pure. Promises: nothing in them is obeyed by a terminal, and no line is wider than it.
 */
import type { styleText } from 'node:util';
import { printable } from '../../../config/quote.ts';
import { eventLineOf, type EventLine, gravityOf } from '../../../core/text/event-line.ts';
import { cellText, cut, textWidth } from './table.ts';
import type { OutputRows } from './rows.ts';

export type Style = Parameters<typeof styleText>[0];
export type Paint = (style: Style, text: string) => string;

/** Longer words are cut, so that the message has room. */
const MOST_SEVERITY = 8;
const MOST_SOURCE = 20;
/** Characters of a value behind the message; -o ndjson has all of it. */
const MOST_VALUE = 200;
/** A narrower terminal has its wrapped lines begin here. */
const LEAST_TEXT = 30;
const SMALL_INDENT = 2;
const TAB = '    ';

interface ShownEvent extends EventLine<unknown> {
  /** Shown as here; empty without a time. */
  readonly clock: string;
}

/** The widths of the first columns, which grow with the events. */
export interface Widths {
  hasDate: boolean;
  severity: number;
  source: number;
}

/** Events as they were stored, not what a query made of them. */
export const areEvents = ({ columns }: Pick<OutputRows, 'columns'>): boolean =>
  columns.includes('_sysTime') && columns.includes('_time');

/**
 * The lines of each row. `terminal`: its columns; undefined writes each event on one line. `widths` is kept from page to page. `now`: ms since
 * 1970, whose day is left out.
 */
export function linesOfEvents(
  { columns, rows }: OutputRows,
  widths: Widths,
  terminal: number | undefined,
  now: number,
  paint: Paint,
): string[] {
  const events = rows.map((row) =>
    eventLineOf(
      columns.map((name, column) => [name, row[column]] as const),
      textOf,
    ),
  );
  widths.hasDate ||= events.some(({ time }) => dayOf(Date.parse(time)) !== dayOf(now));
  for (const { severity, source } of events) {
    widths.severity = Math.min(MOST_SEVERITY, Math.max(widths.severity, textWidth(severity)));
    widths.source = Math.min(MOST_SOURCE, Math.max(widths.source, textWidth(source)));
  }
  return events.map((event) =>
    renderEvent({ ...event, clock: clockOf(event.time, widths.hasDate) }, widths, terminal, paint),
  );
}

/** Lines of a text stay lines; the caller makes them harmless. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : cellText(value));

function renderEvent(event: ShownEvent, widths: Widths, terminal: number | undefined, paint: Paint): string {
  const { clock, severity, source, message, rest } = event;
  const gravity = gravityOf(severity);
  const head: readonly (readonly [text: string, width: number, style: Style | undefined])[] = [
    [printable(clock), textWidth(printable(clock)), 'dim'],
    [
      cut(printable(severity), widths.severity),
      widths.severity,
      gravity === 'bad' ? 'red' : gravity === 'warn' ? 'yellow' : undefined,
    ],
    [cutSource(printable(source), widths.source), widths.source, 'cyan'],
  ];
  const shown = head.filter(([, width]) => width > 0);
  const begin = shown.map(([text, width, style]) => styled(text, style, paint) + ' '.repeat(width - textWidth(text)));
  const indent = shown.reduce((sum, [, width]) => sum + width + 1, 0);
  const pairs = rest.map(([name, value]) => `${printable(name)}=${valueText(value)}`).join(' ');
  if (terminal === undefined) {
    const text = [cellText(message), pairs].filter((part) => part !== '').join('  ');
    return [...begin, text].join(' ').trimEnd();
  }
  const isNarrow = terminal - indent < LEAST_TEXT;
  const hanging = isNarrow ? Math.min(SMALL_INDENT, terminal - 1) : indent;
  const lines =
    message === ''
      ? []
      : message.split(/\r?\n/).flatMap((line) => wrap(printable(line.replaceAll('\t', TAB)), terminal - hanging));
  // Behind the last line of the message where they fit, else below it.
  const all = joinPairs(lines, pairs, terminal - hanging, paint);
  const first = begin.join(' ');
  if (isNarrow) return [first, ...all.map((line) => ' '.repeat(hanging) + line)].join('\n');
  return [`${first} ${all[0] ?? ''}`.trimEnd(), ...all.slice(1).map((line) => ' '.repeat(hanging) + line)].join('\n');
}

function joinPairs(lines: readonly string[], pairs: string, width: number, paint: Paint): string[] {
  if (pairs === '') return [...lines];
  const last = lines.at(-1) ?? '';
  const gap = lines.length === 0 ? '' : '  ';
  const room = width - textWidth(last) - gap.length;
  if (lines.length !== 1 || textWidth(pairs) > room)
    return [...lines, ...wrap(pairs, width).map((line) => paint('dim', line))];
  return [`${last}${gap}${paint('dim', pairs)}`];
}

const styled = (text: string, style: Style | undefined, paint: Paint): string =>
  style === undefined || text === '' ? text : paint(style, text);

/** The end of a path says more than its beginning. */
function cutSource(text: string, width: number): string {
  if (textWidth(text) <= width || !text.includes('/')) return cut(text, width);
  return `…${text.slice(Math.max(0, text.length - width + 1))}`;
}

/** A value with blanks is quoted. */
function valueText(value: unknown): string {
  const whole = cellText(value);
  const text = whole.length > MOST_VALUE ? `${whole.slice(0, MOST_VALUE)}…` : whole;
  return typeof value === 'string' && /[\s"=]|^$/.test(text) ? `"${text.replaceAll('"', '\\"')}"` : text;
}

/** Lines of at most `width` columns, broken at blanks; within a word only where it alone is wider. What a line begins with stays. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const word of text.split(/(?<=\s)(?=\S)/)) {
    const size = textWidth(word.trimEnd());
    if (used + size <= width) {
      line += word;
      used += textWidth(word);
      continue;
    }
    if (line.trim() !== '') lines.push(line.trimEnd());
    const pieces = hardBreak(word, width);
    lines.push(...pieces.slice(0, -1));
    line = pieces.at(-1) ?? '';
    used = textWidth(line);
  }
  lines.push(line.trimEnd());
  return lines;
}

function hardBreak(word: string, width: number): string[] {
  if (textWidth(word.trimEnd()) <= width) return [word];
  const pieces: string[] = [];
  let [piece, used] = ['', 0];
  for (const character of word) {
    const size = textWidth(character);
    if (used + size > width && piece !== '') {
      pieces.push(piece);
      [piece, used] = ['', 0];
    }
    piece += character;
    used += size;
  }
  return [...pieces, piece];
}

/** In the zone of this machine, which it names: `03:12:04.128Z`, `2026-11-25 22:12:04.128-05:00`. A text that is no time stays. */
function clockOf(text: string, hasDate: boolean): string {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return text;
  const minutes = -new Date(ms).getTimezoneOffset();
  const local = new Date(ms + minutes * 60_000).toISOString();
  return `${hasDate ? `${local.slice(0, 10)} ` : ''}${local.slice(11, 23)}${zoneOf(minutes)}`;
}

function zoneOf(minutes: number): string {
  if (minutes === 0) return 'Z';
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const two = (count: number): string => String(count).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(hours)}${rest === 0 ? '' : `:${two(rest)}`}`;
}

const dayOf = (ms: number): string => (Number.isNaN(ms) ? '' : new Date(ms).toDateString());
