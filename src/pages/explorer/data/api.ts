/** Asks the service. The token is kept for the session of this tab only, and goes nowhere but into the header. */

import type {
  Annotation,
  Dataset,
  DatasetInfo,
  FieldMeta,
  StarredQuery,
  TabularResult,
  VirtualField,
} from '../../../client/api-types.ts';

export class Refused extends Error {
  /** HTTP status; 0 where there was no answer. */
  readonly status: number;
  /** Line and column, from 1, of the mistake in a query. */
  readonly place: { readonly line: number; readonly column: number } | undefined;

  constructor(status: number, message: string, place?: Refused['place']) {
    super(message);
    this.status = status;
    this.place = place;
  }

  /** For people: without the word "Error". */
  override toString(): string {
    return this.message;
  }
}

/** The page itself ended the question. */
export function isGivenUp(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

export type EventField = Pick<FieldMeta, 'name' | 'type'> & Partial<Pick<VirtualField, 'expression'>>;

export type CellValue = string | number | boolean | null | readonly CellValue[] | { readonly [key: string]: CellValue };

export interface ColumnTable extends Omit<TabularResult['tables'][number], 'columns'> {
  readonly columns: readonly (readonly CellValue[])[];
}

export interface QueryResult extends Omit<TabularResult, 'tables'> {
  readonly tables: readonly ColumnTable[];
  /** Bytes that the engine read, uncompressed; undefined where the service does not say it. */
  readonly bytesRead: number | undefined;
}

/** What a star and the history keep, so that it gives the same again. */
export interface KeptQuery {
  readonly query: string;
  /** A name of `RANGES`, or `from/to` in milliseconds. */
  readonly range: string;
  /** Those that were chosen; none for those that the page chooses. */
  readonly columns: readonly string[];
}

export interface QueryOptions {
  /** Waits so long for events to be stored. */
  readonly hold?: string;
  /** Answered anew, not from a recent result. */
  readonly isFresh?: boolean;
  readonly limit?: number;
}

export interface QueryRange {
  readonly startTime: string;
  readonly endTime: string;
  /** Of an event: what follows it in the order of the query. */
  readonly cursor?: string;
}

const KEPT = 'tailrace-token';

export function keptToken(): string {
  return sessionStorage.getItem(KEPT) ?? '';
}

export function keepToken(token: string): void {
  if (token === '') sessionStorage.removeItem(KEPT);
  else sessionStorage.setItem(KEPT, token);
}

export class Api {
  readonly #token: string;
  readonly #onToken: (problem: string | undefined) => void;
  /** Of the organisation, which requests with a personal token name. */
  #orgHeader: Readonly<Record<string, string>> | undefined;

  /** `onToken` is called with each answer: with the problem of a token that is unknown or has ended. */
  constructor(token: string, onToken: (problem: string | undefined) => void) {
    this.#token = token;
    this.#onToken = onToken;
  }

  datasets(): Promise<readonly Dataset[]> {
    return this.#ask<readonly Dataset[]>('v2/datasets');
  }

  info(dataset: string): Promise<DatasetInfo> {
    return this.#ask<DatasetInfo>(`v1/datasets/${encodeURIComponent(dataset)}/info`);
  }

  /** Events come with a column `_cursor`. */
  async query(
    apl: string,
    range: QueryRange,
    signal?: AbortSignal,
    { hold, isFresh = hold !== undefined, limit }: QueryOptions = {},
  ): Promise<QueryResult> {
    const body = JSON.stringify({ apl, ...range, includeCursorField: true, ...(limit === undefined ? {} : { limit }) });
    const path = `v1/datasets/_apl?format=tabular${isFresh ? '&nocache=true' : ''}${hold === undefined ? '' : `&streaming-duration=${hold}`}`;
    const reply = await this.#authorized(path, { method: 'POST', body, ...(signal ? { signal } : {}) });
    return { ...((await reply.json()) as Omit<QueryResult, 'bytesRead'>), bytesRead: bytesReadOf(reply.headers) };
  }

  async virtualFields(): Promise<readonly VirtualField[]> {
    return this.#ask<readonly VirtualField[]>('v2/vfields');
  }

  starred(): Promise<readonly StarredQuery[]> {
    return this.#ask<readonly StarredQuery[]>('v2/apl-starred-queries?who=all&limit=200');
  }

  star(name: string, { query: apl, range, columns }: KeptQuery, dataset: string | undefined): Promise<StarredQuery> {
    const metadata = { range, columns: JSON.stringify(columns) };
    const body = JSON.stringify({ name, query: { apl }, metadata, ...(dataset === undefined ? {} : { dataset }) });
    return this.#ask<StarredQuery>('v2/apl-starred-queries', body);
  }

  async unstar(id: string): Promise<void> {
    await this.#authorized(`v2/apl-starred-queries/${encodeURIComponent(id)}`, { method: 'DELETE' });
  }

  annotations(
    dataset: string,
    { start, end }: NonNullable<ColumnTable['range']>,
    signal: AbortSignal,
  ): Promise<readonly Annotation[]> {
    const asked = new URLSearchParams({ datasets: dataset, start, end }).toString();
    return this.#ask<readonly Annotation[]>(`v2/annotations?${asked}`, undefined, signal);
  }

  async #ask<Reply>(path: string, body?: string, signal?: AbortSignal): Promise<Reply> {
    const asked = { ...(body === undefined ? {} : { method: 'POST', body }), ...(signal ? { signal } : {}) };
    return (await this.#authorized(path, asked)).json() as Promise<Reply>;
  }

  async #authorized(path: string, asked: RequestInit): Promise<Response> {
    if (this.#token.startsWith('xapt-')) this.#orgHeader ??= await this.#findOrg();
    return this.#send(path, asked);
  }

  /** The header's prefix is configured at the service; its own headers tell it. */
  async #findOrg(): Promise<Readonly<Record<string, string>>> {
    const reply = await this.#send('v1/orgs');
    const trace = [...reply.headers.keys()].find((name) => name.endsWith('trace-id'));
    const [org] = (await reply.json()) as { readonly id: string }[];
    return trace && org ? { [trace.replace(/trace-id$/, 'org-id')]: org.id } : {};
  }

  async #send(path: string, asked: RequestInit = {}): Promise<Response> {
    const headers = {
      authorization: `Bearer ${this.#token}`,
      ...(asked.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...this.#orgHeader,
    };
    let reply: Response;
    try {
      reply = await fetch(path, { ...asked, headers });
    } catch (error) {
      if (isGivenUp(error)) throw error;
      throw new Refused(
        0,
        'The service does not answer: it stopped, or cannot be reached from here. Try again when it is back.',
      );
    }
    const refusal = reply.ok ? undefined : refusalOf(reply.status, await reply.text());
    const isUnknown = reply.headers.get('www-authenticate')?.includes('invalid_token') === true;
    this.#onToken(isUnknown ? refusal?.message : undefined);
    if (refusal) throw refusal;
    return reply;
  }
}

/** The header's prefix is configured at the service. */
function bytesReadOf(headers: Headers): number | undefined {
  const [, value] = [...headers].find(([name]) => name.endsWith('-bytes-read')) ?? [];
  return value === undefined ? undefined : Number(value);
}

function refusalOf(status: number, text: string): Refused {
  const unknown = `the service answered with HTTP ${status}`;
  try {
    const { message, detail } = JSON.parse(text) as {
      message?: unknown;
      detail?: { line?: unknown; column?: unknown };
    };
    const { line, column } = detail ?? {};
    const place = typeof line === 'number' && typeof column === 'number' ? { line, column } : undefined;
    return new Refused(status, typeof message === 'string' ? message : unknown, place);
  } catch {
    return new Refused(status, unknown);
  }
}
