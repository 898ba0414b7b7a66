/** One query from its request to the text of its reply, the same for both forms: range, tree, statements, result. */
import { messageOf } from '../../core/errors.ts';
import { SERVICE_QUERY_HINT_SECONDS, SERVICE_QUERY_MAX_EVENTS } from '../limits.ts';
import { OWN_FIELDS, type DatasetRecord } from '../datasets/catalog.ts';
import { shownFields } from '../datasets/field-types.ts';
import { nearest } from '../../config/nearest.ts';
import type { Cell, Engine, EngineQueryOptions, Extent } from '../engine/engine.ts';
import { joinExtents, NO_ROWS } from '../engine/statistics.ts';
import { ApiError, badRequest, quote } from '../http/api-error.ts';
import { parseDuration } from '../http/duration.ts';
import { formatTime, MIN_TIME_NS, NO_TIME } from '../../core/time/time-text.ts';
import type { QueryEnvironment } from './values/call.ts';
import { programOf, type Bounds, type Program, type QueryCursor } from './plan/program.ts';
import type { DatasetName, TreeRows } from '../../language/plan/tree.ts';
import { answerOf, type Message, type QueryAnswer } from './results/answer.ts';
import { neverTrue } from './plan/never-true.ts';
import { withSeriesRange } from './plan/series-range.ts';
import { statusOf } from './results/status.ts';
import { SqlParams } from './values/sql.ts';
import { VirtualFieldError } from '../../language/plan/virtual.ts';
import { AplError, ERROR_TYPES, positionIn } from '../../language/syntax/apl-error.ts';
import { autoStep, parseTime } from './plan/times.ts';

export interface QueryRequest {
  /** Those that the query reads, the first of them first; none for a query of made rows. */
  readonly datasets: readonly DatasetRecord[];
  readonly datasetsOf: (name: DatasetName) => readonly DatasetRecord[];
  readonly range: RequestRange;
  /** Width of the bins, ns, where the request says it. */
  readonly step: bigint | undefined;
  readonly limit: number | undefined;
  readonly cursor: QueryCursor | undefined;
  readonly cursorText: string;
  readonly startedAt: number;
  /** An empty result asks which comparison is never true; one page of many, or a question that is asked again and again, does not. */
  readonly hints?: boolean;
  readonly options: EngineQueryOptions;
}

/** What the request says of time, ns since 1970. */
export interface RequestRange {
  readonly now: bigint;
  readonly start: bigint | undefined;
  readonly end: bigint | undefined;
}

/** Throws an `ApiError` 400 that names the bound. */
export function readRange({
  startTime,
  endTime,
}: Partial<Record<'startTime' | 'endTime', string | null | undefined>>): RequestRange {
  const now = BigInt(Date.now()) * 1_000_000n;
  return {
    now,
    start: startTime ? parseTime('startTime', startTime, now) : undefined,
    end: endTime ? parseTime('endTime', endTime, now) : undefined,
  };
}

export interface PlannedRange {
  readonly environment: QueryEnvironment;
  /** Length of that part of the range that has data, ns. */
  readonly dataRange: bigint;
}

/** `treeOf` makes the tree once the range is known. Throws an `ApiError` or an `AplError`. */
export async function runQuery(
  engine: Engine,
  request: QueryRequest,
  treeOf: (range: PlannedRange) => TreeRows,
  messages: readonly Message[],
) {
  const { datasetsOf, options } = request;
  const { now, start } = request.range;
  // The end is exclusive. By default it is the end of this millisecond, so that events stored just now are in the range.
  const end = request.range.end ?? now + 1_000_000n;
  const extents = await extentsOf(engine, request);
  const all = extents.reduce(joinExtents, NO_ROWS);
  const data = all.rows === 0 ? undefined : all;
  const range = environmentOf(request, end, data);
  const { environment } = range;
  const asked = { start, end };
  const planned = { datasetsOf, environment, bounds: asked, limit: undefined, cursor: undefined };
  const firstRow = async (rows: TreeRows, own = options): Promise<readonly (Cell | undefined)[]> => {
    const { sql, columns } = programOf(rows, planned).rows;
    const [row = []] = (await engine.query(sql, environment.params.values, own)).rows;
    return columns.map(({ facets: [facet] }) => (facet ? row[facet[1]] : undefined));
  };
  const tree = await withSeriesRange(treeOf(range), firstRow);
  const { stages } = tree;
  const run = async (bounds: Bounds): Promise<{ program: Program; answer: QueryAnswer }> => {
    const program = programOf(tree, { datasetsOf, environment, bounds, limit: request.limit, cursor: request.cursor });
    return { program, answer: await answerOf(program, engine, environment.params.values, options, all.rows) };
  };
  // For a page of events the engine needs less memory when it compares times first: without that, wide events exceed a small limit.
  const isPage = !stages.some(
    ({ kind }) => kind === 'where' || kind === 'summarize' || kind === 'fold' || kind === 'series' || kind === 'nested',
  );
  const needed = isPage ? asked : neededBounds(asked, extents);
  let { program, answer } = await run(needed);
  const isLess = needed.start !== start || needed.end !== end;
  // Events that arrived meanwhile may be outside the range.
  if (isLess && !stillMet(needed, asked, extents, await extentsOf(engine, request)))
    ({ program, answer } = await run(asked));
  const hints =
    answer.rowsMatched > 0 || request.hints !== true
      ? []
      : await hintsOf(options.signal, () =>
          neverTrue(tree, request.datasets, (rows) =>
            firstRow(rows, { ...options, seconds: SERVICE_QUERY_HINT_SECONDS }),
          ),
        );
  const numGroups = answer.totals ? answer.totals.length : program.aggregated ? answer.rows.length : 0;
  const status = statusOf(answer, {
    startedAt: request.startedAt,
    start,
    end,
    data,
    cursor: request.cursorText,
    numGroups,
    messages: [...messages, ...warnings(program, answer), ...hints],
  });
  return {
    answer,
    program,
    stages,
    status,
    start: start === undefined ? NO_TIME : formatTime(start),
    end: formatTime(end),
    step: environment.step,
  };
}

/** A question that takes too long, or more memory than there is, is left without an answer. */
async function hintsOf(signal: AbortSignal | undefined, ask: () => Promise<readonly string[]>): Promise<Message[]> {
  try {
    return (await ask()).map((msg) => ({ priority: 'warn', count: 1, code: 'never_true', msg }));
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ApiError || error instanceof AplError) return [];
    throw error;
  }
}

const extentsOf = (engine: Engine, { datasets, options }: QueryRequest): Promise<Extent[]> =>
  Promise.all(datasets.map(({ table }) => engine.extent(table, options)));

/** The bounds that a query must check. A bound that all events meet is left out: checking it costs as much as reading a field. */
function neededBounds({ start, end }: Bounds, extents: readonly Extent[]): Bounds {
  const known = extents.every(({ reading }) => reading !== undefined);
  return {
    start: start !== undefined && known && extents.every(({ min }) => min >= start) ? undefined : start,
    end: end !== undefined && known && extents.every(({ max }) => max < end) ? undefined : end,
  };
}

/** Whether all events met the bounds that were left out, from the first reading to the second. */
function stillMet(used: Bounds, asked: Bounds, before: readonly Extent[], after: readonly Extent[]): boolean {
  const { start, end } = neededBounds(asked, after);
  const isSameReading = after.every(({ reading }, n) => reading === before[n]!.reading);
  return (
    isSameReading && (used.start !== undefined || start === undefined) && (used.end !== undefined || end === undefined)
  );
}

function environmentOf(
  { range: { now, start, end: given }, step }: QueryRequest,
  end: bigint,
  data: Extent | undefined,
): PlannedRange {
  const min = data?.min ?? now;
  const max = data?.max ?? now;
  const from = start === undefined || start <= MIN_TIME_NS ? min : start;
  // Without an end the range goes up to the last event, if that was before now.
  const to = given === undefined && max < now ? max + 1n : end;
  const dataRange = (max < to ? max + 1n : to) - (min > from ? min : from);
  const environment = {
    params: new SqlParams(),
    now,
    start: from,
    end: to > from ? to : from + 1n,
    step: step ?? autoStep(to - from),
  };
  return { environment, dataRange };
}

/** Undefined for `auto` and for nothing. */
export function stepOf(resolution: string): bigint | undefined {
  if (resolution === '' || resolution === 'auto') return undefined;
  const step = parseDuration(resolution);
  if (step === undefined) throw badRequest(`resolution ${quote(resolution)}: wanted auto or a duration such as 5m`);
  return step > 0n ? step : undefined;
}

function warnings(program: Program, { cut }: QueryAnswer): Message[] {
  const { missing, alwaysTrue, dataset } = program;
  const messages: Message[] = [];
  const warn = (code: string, msg: string, count = 1): void =>
    void messages.push({ priority: 'warn', count, code, msg });
  if (alwaysTrue)
    warn(
      'apl_whereclausealwaysevaluatestoTRUEwhichwillincludealldata_1',
      'where clause always evaluates to TRUE, which will include all data',
    );
  const [gone, never] = [true, false].map(
    (had) => new Set([...missing].filter((name) => had === (OWN_FIELDS.includes(name) || dataset.fields.has(name)))),
  ) as [Set<string>, Set<string>];
  const named = (names: ReadonlySet<string>): string => [...names].slice(0, 20).map(quote).join(', ');
  if (gone.size > 0) warn('missing_column', `an earlier step left out ${named(gone)}: null is used`, gone.size);
  if (never.size > 0)
    warn(
      'missing_column',
      `no event of the dataset ever had ${named(never)}: null is used${quotes(program)}${guesses(never, dataset)}`,
      never.size,
    );
  if (cut) warn('too_many_groups', `only the first ${SERVICE_QUERY_MAX_EVENTS} groups are listed`);
  return messages;
}

/** Names that a field is compared with are likely texts. */
function quotes({ missing, compared }: Program): string {
  const [first] = [...missing].filter((name) => compared.has(name));
  return first === undefined ? '' : `; for the text write ${quote(first)} in quotes`;
}

/** The nearest fields that there are. */
function guesses(missing: ReadonlySet<string>, { fields }: Pick<DatasetRecord, 'fields'>): string {
  const found = [...missing].slice(0, 5).flatMap((name) => {
    const near = nearest(name, [...OWN_FIELDS, ...shownFields(fields).map(([field]) => field)]);
    return near === undefined ? [] : [missing.size === 1 ? quote(near) : `${quote(near)} for ${quote(name)}`];
  });
  return found.length === 0 ? '' : `; did you mean ${found.join(', ')}?`;
}

/** The reply for an error in a query by text, with its place. `virtual`: the names of its virtual fields. */
export function asReply(error: unknown, text: string, virtual: readonly string[]): unknown {
  const none = { line: 1, column: 1 };
  if (error instanceof VirtualFieldError) {
    const detail = { message: error.message, ...none, errorType: ERROR_TYPES[error.error.type] };
    return new ApiError(400, error.message, {}, detail);
  }
  if (error instanceof AplError) {
    const { line, column } = positionIn(text, error.at);
    const detail = { message: error.message, line, column, errorType: ERROR_TYPES[error.type] };
    return new ApiError(400, `line ${line}, column ${column}: ${error.message}`, {}, detail);
  }
  // The engine refused it: a limit, a pattern that cannot be compiled.
  if (error instanceof ApiError && error.status === 400 && !error.detail) {
    const fields = virtual.length === 0 ? '' : ` (the query has the virtual fields ${virtual.map(quote).join(', ')})`;
    const message = messageOf(error) + fields;
    return new ApiError(400, message, error.headers, { message, ...none, errorType: ERROR_TYPES.running });
  }
  return error;
}
