/**
 * Sessions of the embedded engine over one folder. Each runs one statement at a time; those of different sessions run side by side, and one can
 * end another's. The package's own binding of values is one for the whole process, and lets one statement run at a time: values are set as
 * parameters of the session instead.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { ChdbResult, Session } from 'chdb';
import PQueue from 'p-queue';
import { SERVICE_END_QUERY_MS } from '../../limits.ts';
import type { Param } from '../engine.ts';
import { settingsClause } from '../settings.ts';
import { wellFormed } from '../wire.ts';

export interface Select {
  /** Without FORMAT or SETTINGS. */
  readonly sql: string;
  readonly params: Readonly<Record<string, Param>>;
  readonly settings: Readonly<Record<string, number | string>>;
  readonly signal?: AbortSignal | undefined;
}

export class Sessions {
  readonly #free: Session[];
  readonly #all: readonly Session[];
  readonly #turns: PQueue;
  /** Ends what runs in the others. */
  readonly #ending: Session;
  #begun = 0;

  /** `open` makes a session; `atOnce`: so many selects run side by side. */
  constructor(open: () => Session, atOnce: number) {
    this.#free = Array.from({ length: atOnce }, open);
    this.#ending = open();
    this.#all = [...this.#free, this.#ending];
    this.#turns = new PQueue({ concurrency: atOnce });
  }

  /** How many selects have begun, and how many run now. */
  get counts(): { readonly begun: number; readonly running: number } {
    return { begun: this.#begun, running: this.#turns.pending };
  }

  /** Rejects with the signal's reason once an aborted select has ended: the engine is free then. */
  select(select: Select): Promise<ChdbResult> {
    return this.#turns.add(async () => {
      select.signal?.throwIfAborted();
      const session = this.#free.pop()!;
      try {
        return await this.#run(session, select);
      } finally {
        this.#free.push(session);
      }
    });
  }

  async close(): Promise<void> {
    await this.#turns.onIdle();
    for (const session of this.#all) session.close();
  }

  async #run(session: Session, { sql, params, settings, signal }: Select): Promise<ChdbResult> {
    const name = `select ${(this.#begun += 1)}`;
    const bound = Object.entries(wellFormed(params)).map(([key, value]) => `param_${key} = ${literal(textOf(value))}`);
    const clause = settingsClause({ ...settings, log_comment: literal(name) });
    const ending = new AbortController();
    const end = (): void => void this.#end(name, ending.signal);
    signal?.addEventListener('abort', end, { once: true });
    try {
      if (bound.length > 0) await runOn(session, `set ${bound.join(', ')}`);
      signal?.throwIfAborted();
      return await runOn(session, `${sql} ${clause}`, 'JSONCompact');
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    } finally {
      ending.abort();
      signal?.removeEventListener('abort', end);
    }
  }

  /** Retries until the select has ended: the engine lists it only once it has read it. */
  async #end(name: string, ended: AbortSignal): Promise<void> {
    const kill = `kill query where Settings['log_comment'] = ${literal(name)}`;
    while (!ended.aborted) {
      await this.#ending.queryAsync(kill).catch(() => undefined);
      await wait(SERVICE_END_QUERY_MS);
    }
  }
}

/** One statement. One that failed is listed as running, with what it holds, until the session runs another: it runs one. */
export async function runOn(session: Session, sql: string, format?: 'JSONCompact' | 'Native'): Promise<ChdbResult> {
  try {
    return await session.queryAsync(sql, format && { format });
  } catch (error) {
    await session.queryAsync('select 1').catch(() => undefined);
    throw error;
  }
}

/** A parameter's value as the engine reads it: tab-separated, in which arrays have their items in quotes. */
function textOf(value: Param): string {
  if (typeof value === 'string') return escaped(value);
  return typeof value === 'object'
    ? `[${value.map((item) => (typeof item === 'string' ? `'${escaped(item, "'")}'` : item)).join()}]`
    : `${value}`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\0': '\\0',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
};
const escaped = (text: string, quote = ''): string =>
  text.replaceAll(
    /[\\'\0\b\t\n\f\r]/g,
    (each) => ESCAPES[each] ?? (each === '\\' || each === quote ? `\\${each}` : each),
  );

/** Letters and digits are kept, every other byte becomes its number: nothing in it can end the literal. */
export const literal = (text: string): string =>
  `'${Buffer.from(text)
    .toString('latin1')
    .replaceAll(/[^A-Za-z0-9 ]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)}'`;
