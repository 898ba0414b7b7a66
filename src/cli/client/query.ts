/** `tailrace query`: APL, or a structured query of one dataset as JSON; its rows as table, JSON, NDJSON or CSV, following pages where asked to. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { LegacyQuery, LegacyResult, QueryStatus, TabularResult } from '../../client/api-types.ts';
import { ClientError } from '../../client/client-error.ts';
import type { Client } from '../../client/client.ts';
import { isPage, pagesOf, pagesOfDataset } from '../../client/pages.ts';
import { printable } from '../../config/quote.ts';
import { messageOf } from '../../core/errors.ts';
import { CLIENT_PAGE_ROWS } from '../../client/limits.ts';
import { heading, terminalColumns, write, writeLines } from './output/print.ts';
import { plural, say, usageError } from '../output/say.ts';
import { startProgress } from './output/progress.ts';
import { rangeOf } from './query-range.ts';
import { rowWriter, type WriteRows } from './output/row-writers.ts';
import { rowsOfLegacy, rowsOfTables, type OutputRows } from './output/rows.ts';
import { withClient } from './with-client.ts';
import type { ArgumentsOf } from '../options/command-options.ts';

/** A page, and what to do with it. */
interface Page {
  readonly result: TabularResult | LegacyResult;
  readonly status: QueryStatus;
  readonly rows: readonly OutputRows[];
  /** There may be another page. */
  readonly isPage: boolean;
}

const EXAMPLE = '`tailrace query \'logs | where level == "error" | take 10\'`';
const HOW_TO_ASK = `give it as one argument, such as ${EXAMPLE}`;

/** Resolves with 0. `words` are the arguments that were given, of which the text is the first. */
export async function query(
  text: string | undefined,
  args: ArgumentsOf<'query'>,
  { args: words }: Pick<Command, 'args'>,
): Promise<number> {
  if (words.length > 1)
    throw usageError(`a query is one argument, and ${words.length} were given`, `put it in quotes, such as ${EXAMPLE}`);
  const asked = checkQuery(await readQuery(text, args));
  const dataset = args.dataset ?? datasetIn(asked);
  return withClient(args, dataset, async (client) => {
    try {
      if (args.follow) await followUntilStopped(client, asked, args);
      else
        await show(
          args.dataset === undefined
            ? tabularPages(client, asked, args)
            : legacyPages(client, asked, args.dataset, args),
          args,
        );
    } catch (error) {
      if (error instanceof ClientError) pointAt(asked, error.body);
      throw error;
    }
  });
}

/** Ends with 0 at Ctrl-C. */
async function followUntilStopped(client: Client, asked: string, args: ArgumentsOf<'query'>): Promise<void> {
  const { dataset, end, all, limit = Infinity, output, json } = args;
  const clash = Object.entries({ '--dataset': dataset, '--end': end, '--all': all }).find(
    ([, value]) => value !== undefined,
  )?.[0];
  if (clash !== undefined) throw usageError(`--follow does not go with ${clash}`, 'leave one of the two out');
  const { startTime: start = 'now-1h' } = rangeOf(args, Date.now());
  const { follow } = await import('./follow.ts');
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  // For a script each event is one object.
  const form = output === 'json' || json || !process.stdout.isTTY ? 'ndjson' : 'lines';
  await follow(client, asked, {
    output: output === undefined || output === 'json' ? form : output,
    start,
    limit,
    stopping: stopping.signal,
  });
}

async function show(pages: AsyncIterable<Page>, args: ArgumentsOf<'query'>): Promise<void> {
  const output = args.output ?? (args.json ? 'json' : process.stdout.isTTY ? 'lines' : 'table');
  const isForPeople = output === 'table' || output === 'lines';
  const writers: WriteRows[] = [];
  const progress = startProgress();
  let [count, isMore] = [0, false];
  let first: QueryStatus | undefined;
  let last: Page['result'] | undefined;
  for await (const { result, status, rows, isPage: mayGoOn } of pages) {
    if (first === undefined) sayMessages(status);
    first ??= status;
    last = result;
    const left = (args.limit ?? Infinity) - count;
    const [main, ...others] = rows.map((table) => ({ ...table, rows: table.rows.slice(0, left) }));
    count += main?.rows.length ?? 0;
    isMore = mayGoOn && first.rowsMatched > count;
    if (output === 'json') await write(`${JSON.stringify(result)}\n`);
    else
      for (const [index, table] of [main, ...(isForPeople ? others : [])].entries()) {
        if (table === undefined) continue;
        if (index > 0) await write(`\n${heading(table.name)}\n`);
        await (writers[index] ??= rowWriter(output))(table);
      }
    if (!process.stdout.isTTY)
      progress.show(() => `${plural(count, 'row')} of ${first!.rowsMatched.toLocaleString('en')}`);
    if (count >= (args.limit ?? (args.all ? Infinity : 0))) break;
  }
  progress.end();
  const columns = terminalColumns();
  if (isForPeople && columns !== undefined && last && 'tables' in last) await writeChart(last, columns);
  if (first && process.stderr.isTTY) sayEnd(count, first, isMore && !args.all && args.limit === undefined);
}

/** Below the rows of a series over time, unless the query wants a table. */
async function writeChart({ tables: [table], render }: TabularResult, columns: number): Promise<void> {
  if (!table?.buckets || render?.chart === 'table') return;
  const { chartLines } = await import('./output/chart.ts');
  const lines = chartLines(table, columns);
  if (lines.length > 0) await writeLines(['', ...lines]);
}

/** How many rows a request asks for; undefined leaves it to the text and the service. */
function pageRows({ all, limit }: ArgumentsOf<'query'>): number | undefined {
  return limit === undefined ? (all ? CLIENT_PAGE_ROWS : undefined) : Math.min(limit, CLIENT_PAGE_ROWS);
}

async function* tabularPages(client: Client, apl: string, args: ArgumentsOf<'query'>): AsyncGenerator<Page> {
  const range = rangeOf(args, Date.now());
  const limit = pageRows(args);
  const options = { ...range, ...(limit !== undefined && { limit }), ...(args.cache === false && { noCache: true }) };
  for await (const result of pagesOf(client, apl, options))
    yield { result, status: result.status, rows: rowsOfTables(result), isPage: isPage(result) };
}

async function* legacyPages(
  client: Client,
  text: string,
  dataset: string,
  args: ArgumentsOf<'query'>,
): AsyncGenerator<Page> {
  const range = rangeOf(args, Date.now());
  const limit = pageRows(args);
  const asked = { ...parseLegacy(text), ...range, ...(limit !== undefined && { limit }) };
  const pages = pagesOfDataset(client, dataset, asked, args.cache === false ? { noCache: true } : {});
  for await (const result of pages)
    yield {
      result,
      status: result.status,
      rows: [rowsOfLegacy(result, args.series === true)],
      isPage: isPage(result, asked.order),
    };
}

/** From the argument, `--file`, or stdin. Throws `UsageError`. */
async function readQuery(text: string | undefined, { file, dataset }: ArgumentsOf<'query'>): Promise<string> {
  if (text !== undefined && text !== '-') return text;
  if (file !== undefined) {
    try {
      return readFileSync(file, 'utf8');
    } catch (cause) {
      throw usageError(`cannot read the query from "${file}": ${messageOf(cause)}`, undefined, cause);
    }
  }
  // Without a filter a structured query needs no text.
  if (text === undefined && dataset !== undefined) return '{}';
  if (text === undefined && process.stdin.isTTY)
    throw usageError('no query: no text was given, and stdin is a terminal', HOW_TO_ASK);
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Throws `UsageError`. */
function checkQuery(text: string): string {
  if (text.trim() !== '') return text;
  throw usageError('no query: the text is empty', HOW_TO_ASK);
}

function parseLegacy(text: string): LegacyQuery {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw usageError(
      `with --dataset the query must be JSON: ${messageOf(cause)}`,
      'write it as `--dataset logs \'{"aggregations": [{"op": "count"}]}\'`, or leave --dataset out for APL',
      cause,
    );
  }
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed;
  throw usageError('with --dataset the query is a JSON object', 'see docs/cli.md for an example');
}

/** The dataset that a text in APL begins with. */
function datasetIn(apl: string): string | undefined {
  return /^\s*(?:\[\s*(?:'([^']+)'|"([^"]+)")\s*\]|([A-Za-z_][\w-]*))/
    .exec(apl)
    ?.slice(1)
    .find((name) => name !== undefined);
}

/** Shows the place that the service names in a query that it refuses. */
function pointAt(text: string, body: unknown): void {
  const detail = (body as { detail?: { line?: unknown; column?: unknown } } | null | undefined)?.detail;
  if (typeof detail?.line !== 'number' || typeof detail.column !== 'number') return;
  const line = text.split('\n')[detail.line - 1];
  if (line === undefined) return;
  const place = Math.max(0, detail.column - 1);
  say(line, `${' '.repeat(printable(line.slice(0, place)).length)}^`);
}

/** A message to hide: this command documents that a missing end means now. */
const EXPECTED = /implicitendtime/i;

function sayMessages({ messages }: QueryStatus): void {
  for (const { msg, code, priority } of messages ?? [])
    if (!EXPECTED.test(code)) say(`tailrace: ${priority || 'note'}: ${printable(msg || code)}`);
}

function sayEnd(count: number, { rowsMatched, elapsedTime, isPartial }: QueryStatus, isCut: boolean): void {
  const rows = isCut ? `${count.toLocaleString('en')} of ${plural(rowsMatched, 'matching row')}` : plural(count, 'row');
  say(
    `${rows}, ${(elapsedTime / 1000).toFixed(0)} ms${isPartial ? ', partial' : ''}${isCut ? '; --limit N or --all for more' : ''}`,
  );
}
