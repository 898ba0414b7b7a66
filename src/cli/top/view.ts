/** What `tailrace top` shows of one record of the agent, as lines that fit the terminal. Pure. */
import { styleText } from 'node:util';
import { printable } from '../../config/quote.ts';
import { formatBytes } from '../../config/fields/units.ts';
import type { Rates } from '../../telemetry/rates.ts';
import { SINK_STATS, SOURCE_STATS, statColumns, type Stats } from '../../telemetry/stats.ts';
import { describeState, type SinkStatus, type SourceStatus, type Status } from '../../telemetry/status.ts';
import type { Paint } from '../client/output/event-lines.ts';
import { cut, textWidth } from '../client/output/table.ts';
import { ageOf, formatUptime } from '../agent/status.ts';

export const VIEWS = ['overview', 'sources', 'sinks', 'dead letters'] as const;
type View = (typeof VIEWS)[number];

export interface Shown {
  readonly status: Status;
  readonly rates: Rates;
  readonly view: View;
  /** Lines of the body above the screen. */
  readonly scroll: number;
  /** Why the agent does not answer, and the time of its last answer in milliseconds; absent while it does. */
  readonly gone?: { readonly reason: string; readonly sinceMs: number };
  readonly columns: number;
  readonly rows: number;
  readonly colours: boolean;
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const KEYS = 'q quit   tab next view   ↑↓ scroll';

/** Exactly `rows` lines or fewer, each at most `columns` wide; `lastScroll` is the furthest that scrolling makes sense. */
export function renderTop(shown: Shown): { readonly lines: readonly string[]; readonly lastScroll: number } {
  const { columns, rows, view, scroll, colours } = shown;
  const paint: Paint = (style, text) => (colours ? styleText(style, text, { validateStream: false }) : text);
  const head = [...headLines(shown, paint), tabs(view, columns, paint)];
  const body = bodyLines(shown, paint);
  const height = Math.max(1, rows - head.length - 1);
  const lastScroll = Math.max(0, body.length - height);
  const from = Math.min(scroll, lastScroll);
  const end = from + height;
  const more = body.length > height ? `   lines ${from + 1}–${Math.min(end, body.length)} of ${body.length}` : '';
  const foot = paint('dim', cut(`${KEYS}${more}`, columns));
  const blank = Array.from({ length: Math.max(0, height - body.length) }, () => '');
  return { lines: [...head, ...body.slice(from, end), ...blank, foot].slice(-rows), lastScroll };
}

function headLines({ status, gone, columns }: Shown, paint: Paint): string[] {
  const { version, pid, uptimeSeconds, accounting, sinks, unsaved } = status;
  const title = `tailrace ${version}, process ${pid}, up ${formatUptime(uptimeSeconds)}`;
  const failing = sinks.filter(({ state }) => state !== 'delivering');
  const state =
    failing.length === 0 ? 'delivering' : failing.map((sink) => `sink ${sink.id} ${describeState(sink)}`).join(', ');
  const balance = accounting.balanced ? 'accounting balances' : 'accounting is off';
  const isWell = accounting.balanced && failing.length === 0;
  const lines = [
    paint('bold', cut(title, columns)),
    paint(isWell ? 'green' : 'red', cut(`${state}; ${balance}`, columns)),
  ];
  const warn = (text: string): unknown => lines.push(paint('red', cut(printable(text), columns)));
  if (unsaved !== undefined) warn(`positions cannot be saved: ${unsaved}`);
  for (const problem of accounting.problems) warn(problem);
  if (gone) {
    const since = new Date(gone.sinceMs).toLocaleTimeString('en-GB');
    warn(`the agent has not answered since ${since} (${gone.reason}); asking again, the numbers are from then`);
  }
  return lines;
}

function tabs(view: View, columns: number, paint: Paint): string {
  const names = VIEWS.map((name) => (name === view ? `[${name}]` : ` ${name} `));
  // Where not all fit, the one that is shown.
  if (textWidth(names.join(' ')) > columns) return paint('inverse', cut(`[${view}]`, columns));
  return names.map((name, index) => (VIEWS[index] === view ? paint('inverse', name) : name)).join(' ');
}

function bodyLines(shown: Shown, paint: Paint): string[] {
  const sections: Record<Exclude<View, 'overview'>, () => string[]> = {
    sources: () => sourceLines(shown, paint),
    sinks: () => sinkLines(shown, paint),
    'dead letters': () => letterLines(shown, paint),
  };
  if (shown.view !== 'overview') return sections[shown.view]();
  return [...sections.sources(), '', ...sections.sinks(), '', ...sections['dead letters']()];
}

function sourceLines({ status, rates, columns }: Shown, paint: Paint): string[] {
  const [lag, ...counts] = numberColumns(SOURCE_STATS, status.sources);
  const table: TopColumn<SourceStatus>[] = [
    { name: 'SOURCE', rank: 0, cell: ({ id }) => id },
    { name: 'RATE', rank: 1, isNumber: true, cell: ({ id }) => `${compact.format(rates.sources.get(id) ?? 0)}/s` },
    lag!,
    {
      name: 'OLDEST UNSENT',
      rank: 3,
      isNumber: true,
      cell: ({ oldestUnsent }) => (oldestUnsent === undefined ? '-' : ageOf(oldestUnsent, status.nowMs)),
    },
    ...counts,
    { name: 'FILES', rank: 9, cell: ({ files }) => filesOf(files) },
  ];
  const { head, lines } = renderColumns(table, status.sources, columns);
  const waits = ({ waiting }: SourceStatus): string[] =>
    waiting
      ? [paint('yellow', cut(`  waits for sink ${waiting.sink}: ${waiting.reason.replaceAll('_', ' ')}`, columns))]
      : [];
  return [paint('bold', head), ...status.sources.flatMap((source, index) => [lines[index]!, ...waits(source)])];
}

function sinkLines({ status, rates, columns }: Shown, paint: Paint): string[] {
  const isWell = ({ state }: SinkStatus): boolean => state === 'delivering';
  const table: TopColumn<SinkStatus>[] = [
    { name: 'SINK', rank: 0, cell: ({ id }) => id },
    { name: 'STATE', rank: 1, cell: describeState, paint: (text, sink) => paint(isWell(sink) ? 'green' : 'red', text) },
    { name: 'STORED', rank: 2, isNumber: true, cell: ({ id }) => `${compact.format(rates.sinks.get(id) ?? 0)}/s` },
    { name: 'LAST ANSWER', rank: 4, cell: ({ lastAnswer }) => answerOf(lastAnswer, status.nowMs) },
    { name: 'LATENCY', rank: 5, isNumber: true, cell: ({ id }) => latencyOf(rates.requestMs.get(id)) },
    ...numberColumns(SINK_STATS, status.sinks),
  ];
  const { head, lines } = renderColumns(table, status.sinks, columns);
  const trouble = ({ reason, fix }: SinkStatus): string[] => [
    ...(reason === undefined ? [] : [paint('red', cut(`  ${printable(reason)}`, columns))]),
    ...(fix === undefined ? [] : [cut(`  fix: ${printable(fix)}`, columns)]),
  ];
  return [paint('bold', head), ...status.sinks.flatMap((sink, index) => [lines[index]!, ...trouble(sink)])];
}

function letterLines({ status, columns }: Shown, paint: Paint): string[] {
  const letters = status.sinks.flatMap(({ id, deadLetters }) =>
    Object.entries(deadLetters).map(([reason, count]) => ({ id, reason, count })),
  );
  const title = `DEAD LETTERS  ${formatBytes(status.deadLetterBytes)} on disk`;
  if (letters.length === 0) return [paint('bold', cut(title, columns)), cut('none since the agent started', columns)];
  const { lines } = renderColumns(
    [
      { name: '', rank: 0, cell: ({ count }) => count.toLocaleString('en'), isNumber: true },
      { name: '', rank: 1, cell: ({ reason }) => printable(reason) },
      { name: '', rank: 2, cell: ({ id }) => `sink ${id}` },
    ],
    letters,
    columns,
  );
  return [paint('bold', cut(title, columns)), ...lines.map((line) => paint('yellow', line))];
}

function numberColumns(
  stats: Stats<never>,
  rows: readonly (SourceStatus | SinkStatus)[],
): TopColumn<SourceStatus | SinkStatus>[] {
  return statColumns(stats, rows, 'top').map(({ isBytes, value, ...column }) => {
    const cell = (number: number | undefined): string =>
      number === undefined ? '' : isBytes ? formatBytes(number) : number.toLocaleString('en');
    return { ...column, isNumber: true, cell: (row) => cell(value(row)) };
  });
}

function filesOf(files: SourceStatus['files']): string {
  const present = Object.entries(files).filter(([, count]) => count > 0);
  return present.map(([state, count]) => `${count} ${state}`).join(', ');
}

function answerOf(answer: SinkStatus['lastAnswer'], nowMs: number): string {
  if (!answer) return '-';
  return `${answer.status === 'none' ? 'no answer' : answer.status}, ${ageOf(answer.at, nowMs)} ago`;
}

function latencyOf(ms: number | undefined): string {
  if (ms === undefined) return '-';
  return ms < 1000 ? `${ms < 10 ? ms.toFixed(1) : ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

interface TopColumn<Row> {
  readonly name: string;
  readonly cell: (row: Row) => string;
  /** Columns of the highest number are left out first. The first column stays. */
  readonly rank: number;
  readonly isNumber?: boolean;
  /** Applied to the padded cell. */
  readonly paint?: (text: string, row: Row) => string;
}

const GAP = '  ';

/** The head, and a line for each row, none wider than `width`. */
function renderColumns<Row>(
  columns: readonly TopColumn<Row>[],
  rows: readonly Row[],
  width: number,
): { head: string; lines: string[] } {
  const widthOf = ({ name, cell }: TopColumn<Row>): number =>
    Math.max(textWidth(name), ...rows.map((row) => textWidth(cell(row))));
  const fitting = columns.map((column) => ({ column, width: widthOf(column) }));
  const total = (): number => fitting.reduce((sum, each) => sum + each.width + GAP.length, -GAP.length);
  while (fitting.length > 1 && total() > width) {
    const rank = Math.max(...fitting.slice(1).map(({ column }) => column.rank));
    fitting.splice(
      fitting.findLastIndex(({ column }, index) => index > 0 && column.rank === rank),
      1,
    );
  }
  if (fitting.length === 1) fitting[0]!.width = Math.min(fitting[0]!.width, width);
  const pad = (text: string, isNumber: boolean | undefined, cells: number): string => {
    const shown = cut(text, cells);
    const blanks = ' '.repeat(Math.max(0, cells - textWidth(shown)));
    return isNumber ? blanks + shown : shown + blanks;
  };
  return {
    head: fitting.map(({ column, width: cells }) => pad(column.name, column.isNumber, cells)).join(GAP),
    lines: rows.map((row) =>
      fitting
        .map(({ column: { cell, isNumber, paint = (text) => text }, width: cells }) =>
          paint(pad(cell(row), isNumber, cells), row),
        )
        .join(GAP),
    ),
  };
}
