/** Short ways to ask queries by text. */
import { client } from './under.ts';

export interface TabularTable {
  readonly name: string;
  readonly sources: readonly { readonly name: string }[];
  readonly fields: readonly { readonly name: string; readonly type: string; readonly agg?: object }[];
  readonly order: readonly { readonly field: string; readonly desc: boolean }[];
  readonly groups: readonly { readonly name: string }[];
  readonly range: { readonly field: string; readonly start: string; readonly end: string };
  readonly buckets?: { readonly field: string; readonly size: number };
  readonly columns: readonly (readonly unknown[])[];
}

export interface Tabular {
  readonly status: Readonly<Record<string, unknown>> & {
    readonly messages: readonly { readonly code: string; readonly msg: string }[];
  };
  readonly tables: readonly TabularTable[];
  readonly datasetNames: readonly string[];
  readonly fieldsMetaMap: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>;
  readonly text: string;
}

/** Everything that can be stored. */
export const ALWAYS = { startTime: '1900-01-01T00:00:00Z', endTime: '2262-04-11T00:00:00Z' };

export const APL = '/v1/query/_apl?format=tabular';

/** A tabular result; the reply must be a 200. */
export async function apl(text: string, body: object = {}, path = APL): Promise<Tabular> {
  const answer = await client.call('POST', path, { body: { apl: text, ...ALWAYS, ...body } });
  if (answer.status !== 200) throw new Error(`${text} answered ${answer.status}: ${answer.text}`);
  return { ...(answer.json as unknown as Tabular), text: answer.text };
}

/** Rows of a table, by column order. */
export const rowsOf = ({ columns }: TabularTable): unknown[][] =>
  (columns[0] ?? []).map((_, n) => columns.map((column) => column[n]));

/** Rows as objects. */
export const objectsOf = (table: TabularTable): Record<string, unknown>[] =>
  rowsOf(table).map((row) => Object.fromEntries(table.fields.map(({ name }, n) => [name, row[n]])));

/** The rows of a query's first table. */
export const rows = async (text: string, body: object = {}): Promise<unknown[][]> =>
  rowsOf((await apl(text, body)).tables[0]!);

export const objects = async (text: string, body: object = {}): Promise<Record<string, unknown>[]> =>
  objectsOf((await apl(text, body)).tables[0]!);

/** What expressions give for the first event of a dataset, all in one query. */
export async function values(dataset: string, expressions: readonly string[]): Promise<unknown[]> {
  const [row] = await rows(
    `['${dataset}'] | take 1 | project ${expressions.map((expression, n) => `v${n} = ${expression}`).join(', ')}`,
  );
  return row ?? [];
}

/** A refusal: its status, and its body. */
export async function refused(
  text: unknown,
  body: object = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await client.call('POST', APL, { body: { apl: text, ...ALWAYS, ...body } });
  if (answer.status === 200) throw new Error(`${String(text)} was answered: ${answer.text.slice(0, 200)}`);
  return { status: answer.status, body: answer.json };
}
