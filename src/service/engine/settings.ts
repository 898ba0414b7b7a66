/** The settings of every select, on either engine, and what an engine's refusal means to the client. */
import { setTimeout as wait } from 'node:timers/promises';
import { codeOf, messageOf } from '../../core/errors.ts';
import { ApiError, badRequest } from '../http/api-error.ts';
import { SERVICE_INSERT_SECONDS, SERVICE_MEMORY_PAUSE_MS } from '../limits.ts';
import type { EngineQueryOptions, QueryLimits } from './engine.ts';

/** Numbers that JavaScript would round come as text. Set explicitly, as a server's profile could change them. */
export const FORMAT_SETTINGS = {
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_denormals: 1,
} as const;

export function querySettings({ seconds, memoryBytes, resultBytes }: QueryLimits): Readonly<Record<string, number>> {
  return {
    max_execution_time: seconds,
    max_memory_usage: memoryBytes,
    max_result_bytes: resultBytes,
    // A constant to group or order by is a constant, not the number of a column.
    enable_positional_arguments: 0,
    ...FORMAT_SETTINGS,
  };
}

/** What one query wants beside. */
export const optionSettings = ({ fresh, seconds }: EngineQueryOptions): Readonly<Record<string, number>> => ({
  ...(fresh === true && { use_query_condition_cache: 0 }),
  ...(seconds !== undefined && { max_execution_time: seconds }),
});

/** As a SETTINGS clause. */
export const settingsClause = (settings: Readonly<Record<string, number | string>>): string =>
  `settings ${Object.entries(settings)
    .map(([name, value]) => `${name} = ${value}`)
    .join(', ')}`;

/** The number in the engine's `Code: 241. DB::Exception: …`, else an empty string. */
const engineCode = (error: unknown): string => {
  const { code } = error as { code?: unknown };
  return /Code: (\d+)/.exec(messageOf(error))?.[1] ?? (typeof code === 'string' ? code : '');
};

/** The engine's sentence without the statement that it names. */
function reasonOf(error: unknown): string {
  const [, sentence = ''] =
    /DB::Exception: (.*?)(?:[:.] (?:In scope|while|While|maximum)|\. \([A-Z_]+\)|$)/s.exec(messageOf(error)) ?? [];
  return sentence.slice(0, 300);
}

/** The query took longer than it may. */
export const isOverTime = (error: unknown): boolean => ['159', '160'].includes(engineCode(error));

const ASK_LESS = 'take a shorter time, or fewer fields, rows or groups';

/** What the engine did at this moment, beside the query that asks it: statements, merges, and deletes. */
export const OTHER_WORK_SQL =
  'select (select count() from system.processes where query_id != queryID()) + (select count() from system.merges)';

/** All work of the engine together went over its limit. */
export const isOutOfMemory = (error: unknown): boolean =>
  engineCode(error) === '241' && /\(total\) memory limit/i.test(messageOf(error));

/** Does the work again while others have the memory that it needs, as long as an insert may take. `attempt` counts from 0. */
export async function untilMemory<T>(work: (attempt: number) => Promise<T>): Promise<T> {
  const deadline = performance.now() + SERVICE_INSERT_SECONDS * 1000;
  for (let attempt = 0; ; attempt++)
    try {
      return await work(attempt);
    } catch (error) {
      if (!isOutOfMemory(error) || performance.now() > deadline) throw error;
      await wait(SERVICE_MEMORY_PAUSE_MS);
    }
}

/** Reported by the system, the database, or the engine, which checks itself or passes the system's error on. */
const isFullDisk = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT'].includes(codeOf(error)) ||
  (codeOf(error) === 'ERR_SQLITE_ERROR' && /disk is full/.test(messageOf(error))) ||
  engineCode(error) === '243' ||
  (/DB::|std::/.test(messageOf(error)) && /No space left on device|Disk quota exceeded/.test(messageOf(error)));

/** What the machine lacks, of memory or disk, where a statement or the database failed for it: the client comes again. */
export function lackOf(error: unknown): ApiError | undefined {
  if (isOutOfMemory(error)) return outOfMemory(false);
  if (isFullDisk(error))
    return new ApiError(503, 'the disk of the service is full: make room for its data folder', { 'Retry-After': '5' });
  return undefined;
}

/** For a query that was out of memory: other work may end, the query itself does not become smaller. */
export const outOfMemory = (isAlone: boolean): ApiError =>
  isAlone
    ? badRequest(
        `the query needs more memory than the engine has: ${ASK_LESS}, or start the service with more memory (--memory)`,
      )
    : new ApiError(429, 'the memory of the engine is taken by other work: try again', { 'Retry-After': '1' });

export const tooLargeResult = (bytes: number): Error =>
  badRequest(`the result is larger than ${bytes / 2 ** 20} MiB: set a smaller limit`);

/** What the engine refuses because of the query, as the 400 that the client gets. The rest are bugs. */
export function refusal(error: unknown, { seconds, memoryBytes, resultBytes }: QueryLimits): Error | undefined {
  switch (engineCode(error)) {
    case '159':
    case '160':
      return badRequest(`the query ran over its time limit of ${seconds} s`);
    case '241':
      return badRequest(`the query went over its memory limit of ${memoryBytes / 2 ** 20} MiB: ${ASK_LESS}`);
    case '396':
      return tooLargeResult(resultBytes);
    // Bad arguments of the query: a group that the pattern does not have, an array or text too large, a value out of range.
    case '36':
    case '69':
    case '128':
    case '131':
    case '306':
      return badRequest(`the query cannot be run: ${reasonOf(error)}`);
    // The tree of the query is too deep or too large.
    case '167':
    case '168':
      return badRequest('the query is too complex; make it shorter');
    case '427':
      return badRequest('the regular expression cannot be compiled (wanted RE2)');
    default:
      return undefined;
  }
}
