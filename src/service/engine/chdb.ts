/**
 * The embedded engine: chDB, ClickHouse inside this process. A thin adapter over its Session.
 *
 * - Rows go in as a file of the Native format in the data folder, read by `insert … select … from file(…)`: an
 *   `insert … from input()` silently stores nothing here, and Native in the statement is cut at its newlines.
 * - A call blocks one of libuv's four threads until it is done, so one insert and one select run at a time; files and decompression
 *   keep the others. The package itself runs bound statements one after the other.
 * - What comes in for a table while an insert runs goes in together as the next one: with four senders of 1 MiB batches that took 49 s of
 *   CPU a GiB instead of 68 (two inserts at a time: 61), as an insert costs some 10 ms whatever its size and parts are merged less often.
 * - A part is complete once the insert returned: the folder is renamed into place, so a kill -9 cannot lose it. Parts are
 *   not fsynced: a power cut may lose the last seconds.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type * as Chdb from 'chdb';
import type { ChdbResult, Session } from 'chdb';
import PQueue from 'p-queue';
import { codeOf, messageOf, TailraceError } from '../../core/errors.ts';
import { SERVICE_INSERT_GROUP_BYTES, SERVICE_QUERY_MEMORY_BYTES, SERVICE_QUERY_SECONDS, SERVICE_RESULT_BYTES } from '../../core/limits.ts';
import { badRequest } from '../http/api-error.ts';
import { COLUMNS, type Cell, type Engine, type QueryResult } from './engine.ts';

const STRUCTURE = COLUMNS.map(({ name, type }) => `${name} ${type}`).join(', ');
const INSERT_SETTINGS = 'max_threads = 1, max_insert_threads = 1, max_partitions_per_insert_block = 0';
const QUERY_SETTINGS = `max_execution_time = ${SERVICE_QUERY_SECONDS}, max_memory_usage = ${SERVICE_QUERY_MEMORY_BYTES}, output_format_json_quote_64bit_integers = 1, max_result_bytes = ${SERVICE_RESULT_BYTES}, output_format_json_quote_denormals = 1`;

interface Group {
  readonly blocks: Buffer[];
  bytes: number;
  done: Promise<void>;
}

/** Opens the engine's data under `dataDir`. Throws a `TailraceError` when chDB is not installed or cannot open the folder. */
export async function openChdb(dataDir: string): Promise<Engine> {
  const { Session, drainPending } = await load();
  if (/[*?{}]/.test(dataDir))
    throw new TailraceError('E_DATA_DIR', `the data folder ${dataDir} has one of * ? { } in its path`, {
      fix: 'choose another folder with --data',
    });
  const inbox = join(dataDir, 'inbox');
  mkdirSync(inbox, { recursive: true });
  for (const name of readdirSync(inbox)) rmSync(join(inbox, name), { force: true });

  const session = openSession(Session, join(dataDir, 'engine'));
  const inserts = new PQueue({ concurrency: 1 });
  const selects = new PQueue({ concurrency: 1 });
  /** Blocks that wait for their table's turn, by table: they go in as one insert. */
  const waiting = new Map<string, Group>();
  let files = 0;

  const store = async (table: string, { blocks }: Group, token: string): Promise<void> => {
    const file = join(inbox, `${files++}.native`);
    try {
      writeFileSync(file, blocks.length === 1 ? blocks[0]! : Buffer.concat(blocks));
      await session.queryAsync(
        `insert into ${table} select * from file(${literal(file)}, 'Native', ${literal(STRUCTURE)}) settings ${INSERT_SETTINGS}, insert_deduplication_token = ${literal(token)}`,
      );
    } finally {
      rmSync(file, { force: true });
    }
  };

  return {
    run: async (sql) => void (await inserts.add(() => session.queryAsync(sql))),
    query: (sql, params = {}) =>
      selects.add(async () => {
        try {
          const result = await session.queryBindAsync(`${sql} settings ${QUERY_SETTINGS}`, params, { format: 'JSONCompactEachRow' });
          return { rows: readRows(result), rowsRead: result.rowsRead };
        } catch (error) {
          throw refusal(error) ?? error;
        }
      }) as Promise<QueryResult>,
    insert(table, block, token) {
      const group = waiting.get(table);
      if (group && group.bytes + block.length <= SERVICE_INSERT_GROUP_BYTES) {
        group.blocks.push(block);
        group.bytes += block.length;
        return group.done;
      }
      const fresh: Group = { blocks: [block], bytes: block.length, done: Promise.resolve() };
      waiting.set(table, fresh);
      // The queue may start it at once, inside this call: the group is whole before.
      fresh.done = inserts.add(() => {
        if (waiting.get(table) === fresh) waiting.delete(table);
        return store(table, fresh, token);
      });
      return fresh.done;
    },
    close: async () => {
      await Promise.all([inserts.onIdle(), selects.onIdle()]);
      await drainPending();
      session.close();
    },
  };
}

/** A literal of the service's own text (a path, a type). A user's text is bound instead. */
const literal = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

async function load(): Promise<Pick<typeof Chdb, 'Session' | 'drainPending'>> {
  try {
    return await import('chdb');
  } catch (cause) {
    throw new TailraceError('E_ENGINE_MISSING', `the embedded engine cannot be loaded: ${messageOf(cause)}`, {
      fix: 'npm install chdb@3.4.0',
      cause,
    });
  }
}

function openSession(SessionClass: typeof Session, path: string): Session {
  let session: Session | undefined;
  try {
    session = new SessionClass(path);
    session.query('select 1');
    return session;
  } catch (cause) {
    session?.close();
    const fix =
      codeOf(cause) === 'CHDB_CONNECTION'
        ? 'see that no other process uses the folder and that it can be written'
        : 'see the message above';
    throw new TailraceError('E_ENGINE', `the engine cannot open ${path}: ${messageOf(cause).trim()}`, { fix, cause });
  }
}

function readRows(result: ChdbResult): Cell[][] {
  const text = result.text();
  // One parse for all; a row's line is an array, and the engine writes no newline inside one.
  return text === '' ? [] : (JSON.parse(`[${text.trimEnd().replaceAll('\n', ',')}]`) as Cell[][]);
}

/** What the engine refuses because of the query, as the 400 that the client gets. The rest are bugs. */
function refusal(error: unknown): Error | undefined {
  switch (/Code: (\d+)/.exec(messageOf(error))?.[1] ?? '') {
    case '159':
    case '160':
      return badRequest(`the query ran over its time limit of ${SERVICE_QUERY_SECONDS} s`);
    case '241':
      return badRequest(`the query went over its memory limit of ${SERVICE_QUERY_MEMORY_BYTES / 2 ** 20} MiB`);
    case '396':
      return badRequest(`the result is larger than ${SERVICE_RESULT_BYTES / 2 ** 20} MiB: set a smaller limit`);
    case '427':
      return badRequest('the regular expression cannot be compiled (wanted RE2)');
    default:
      return undefined;
  }
}
