/** `tailrace status`: one screen about the running agent. Asks it through the control socket. */
import { styleText } from 'node:util';
import { printable } from '../../config/quote.ts';
import { formatBytes } from '../../config/fields/units.ts';
import { type Fact, sayStats, SINK_STATS, SOURCE_STATS } from '../../telemetry/stats.ts';
import { describeState, type SinkStatus, type SourceStatus, type Status } from '../../telemetry/status.ts';
import { configOf } from './config-arguments.ts';
import { groupDigits } from '../output/say.ts';
import { askRunning } from './ask-running.ts';
import type { ArgumentsOf } from '../options/command-options.ts';

/** Resolves with 0 while everything is delivered or in hand, else 1, as where no agent runs. Throws `TailraceError`. */
export async function status(args: ArgumentsOf<'status'>): Promise<number> {
  const { dataDir } = configOf(args);
  const found = await askRunning<Status>(dataDir, { command: 'status', args: [] });
  const colours = process.stdout.isTTY && !process.env['NO_COLOR'];
  process.stdout.write(args.json === true ? `${JSON.stringify(found)}\n` : renderStatus(found, colours));
  return (args.health === true ? found.accounting.balanced : found.ok) ? 0 : 1;
}

/** The screen as text. */
export function renderStatus(found: Status, colours: boolean): string {
  const paint = (good: boolean, text: string): string =>
    colours ? styleText(good ? 'green' : 'red', text, { validateStream: false }) : text;
  const { version, pid, nowMs, uptimeSeconds, config, accounting } = found;
  return [
    `tailrace ${version}, process ${pid}, up ${formatUptime(uptimeSeconds)}`,
    `configuration ${printable(config.file)} (${config.hash})`,
    paint(
      accounting.balanced,
      accounting.balanced ? 'accounting balances: every accepted event is accounted for' : 'accounting is off',
    ),
    ...accounting.problems.map((problem) => `  ${printable(problem)}`),
    ...(found.unsaved === undefined ? [] : [paint(false, `positions cannot be saved: ${printable(found.unsaved)}`)]),
    '',
    ...found.sources.flatMap((source) => sourceLines(source, nowMs)).map(printable),
    '',
    ...found.sinks.flatMap((sink) => sinkLines(sink, nowMs, paint)),
    '',
  ].join('\n');
}

function sourceLines(source: SourceStatus, nowMs: number): string[] {
  const { id, files, lagBytes, accepted, delivered, oldestUnsent, waiting, refused } = source;
  const parts = [
    Object.entries(files)
      .filter(([, count]) => count > 0)
      .map(([state, count]) => `${count} ${state}`)
      .join(', '),
    `lag ${formatBytes(lagBytes)}`,
    ...(oldestUnsent === undefined ? [] : [`oldest unsent read ${ageOf(oldestUnsent, nowMs)} ago`]),
    `${groupDigits(accepted)} accepted, ${groupDigits(delivered)} delivered`,
    ...sayStats(SOURCE_STATS, source).map(sayNumber),
    ...(waiting ? [`waits for sink "${waiting.sink}": ${waiting.reason}`] : []),
  ];
  const line = `source ${id}: ${parts.filter((part) => part !== '').join('; ')}`;
  if (!refused) return [line];
  const { count, path, reason, fix } = refused;
  return [
    line,
    `  ${count === 1 ? '1 path is' : `${count} paths are`} left out for safety, such as ${printable(path)}: ${printable(reason)}`,
    `  fix: ${printable(fix)}`,
  ];
}

function sinkLines(sink: SinkStatus, nowMs: number, paint: (good: boolean, text: string) => string): string[] {
  const { id, state, reason, fix, lastSuccess, lastAnswer, answers, ingested, retries, memoryBytes, deadLetters } =
    sink;
  const facts = [
    `${groupDigits(ingested)} stored`,
    `${groupDigits(retries)} ${retries === 1 ? 'retry' : 'retries'}`,
    `${formatBytes(memoryBytes)} in memory`,
    ...sayStats(SINK_STATS, sink).map(sayNumber),
    `last success ${lastSuccess === undefined ? 'never' : `${ageOf(lastSuccess, nowMs)} ago`}`,
    ...(lastAnswer === undefined ? [] : [answerOf(lastAnswer.status, answers)]),
    ...Object.entries(deadLetters).map(
      ([why, count]) => `${groupDigits(count)} ${count === 1 ? 'dead letter' : 'dead letters'} (${why})`,
    ),
  ];
  return [
    `sink ${id}: ${paint(state === 'delivering', describeState(sink))}; ${printable(facts.join('; '))}`,
    ...(reason === undefined ? [] : [`  ${printable(reason)}`]),
    ...(fix === undefined ? [] : [`  fix: ${printable(fix)}`]),
  ];
}

const sayNumber = ({ value, isBytes, said }: Fact): string =>
  `${isBytes ? formatBytes(value) : groupDigits(value)} ${value === 1 ? said.replace(/s$/, '') : said}`;

function answerOf(last: string, answers: SinkStatus['answers']): string {
  if (last !== 'none') return `last answer ${last}`;
  return Object.keys(answers).some((status) => status !== 'none') ? 'the last request had no answer' : 'no answer yet';
}

/** How long ago it was, by the agent's clock. */
export function ageOf(time: string, nowMs: number): string {
  return formatUptime(Math.max(0, Math.round((nowMs - Date.parse(time)) / 1000)));
}

/** A length of time in its largest unit. */
export function formatUptime(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`;
}
