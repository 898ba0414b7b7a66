/**
 * Hostile queries: whatever the text, the body and the parameters are, a query gets an answer or a refusal, the service lives, and no SQL has
 * a word in it that the compiler did not write. TAILRACE_FUZZ_QUERIES sets how many of each kind are sent (1,000; the compiler alone gets ten times
 * as many), those of one seed; TAILRACE_FUZZ_SEED draws others.
 */
import * as fc from 'fast-check';
import { Session } from 'chdb';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parseAndCompile, type Compiled } from './hostile/compile.ts';
import { FUNCTIONS } from '../../src/language/functions/table.ts';
import { anything, expression, likely, MARK } from './hostile/query-texts.ts';
import { foreignWords } from './hostile/sql-words.ts';
import { MemoryLog } from '../support/memory-log.ts';
import { startForTest, type Answer, type ServiceUnderTest } from './support.ts';

const wanted = Number(process.env['TAILRACE_FUZZ_QUERIES'] ?? 1000);
const seed = Number(process.env['TAILRACE_FUZZ_SEED'] ?? 20_260_101);

function judgeSql(sql: string, problem: string): void {
  expect(sql.toLowerCase(), problem).not.toContain(MARK);
  expect(foreignWords(sql), `${problem}\n${sql}`).toEqual([]);
  expect(sql, problem).not.toMatch(/;|--|\/\*/);
}

/** Values are set in literals of letters, digits, blanks and numbers of bytes. Returns 1 for a select of a query, else 0. */
function judgeStatement(sql: string, problem: string): number {
  if (sql.startsWith('set '))
    expect(sql, problem).toMatch(/^set (?:(?:, )?param_\w+ = '(?:[A-Za-z0-9 ]|\\x[\da-f]{2})*')+$/);
  const [, select] = /^(.*), log_comment = 'select \d+'$/s.exec(sql) ?? [];
  if (select === undefined) return 0;
  judgeSql(select, problem);
  return 1;
}

describe('the compiler', () => {
  const counts = { texts: 0, compiled: 0 };

  function judge(text: string): void {
    counts.texts++;
    const compiled: Compiled = parseAndCompile(text.replaceAll('#', 'logs'));
    if (compiled.kind === 'refused') return;
    counts.compiled++;
    for (const sql of compiled.statements) judgeSql(sql, text);
  }

  test(`writes SQL of its own words alone, or refuses (seed ${seed})`, { timeout: 3_600_000 }, () => {
    fc.assert(fc.property(likely, judge), { seed, numRuns: wanted * 5 });
    fc.assert(fc.property(anything, judge), { seed, numRuns: wanted * 5 });
    process.stdout.write(`compiler: ${counts.texts} texts, ${counts.compiled} compiled, first seed ${seed}\n`);
    expect(counts.compiled / counts.texts).toBeGreaterThan(0.15);
  });

  // Symptom: `parse_json(tostring(…))` 5 deep ended the service. Cause: a function writes its argument several times, and only the whole was measured.
  test('refuses functions inside each other whose SQL would double with each', { timeout: 60_000 }, () => {
    const refused = new Set<string>();
    for (const { names, args, optional = 0, rest } of new Set(FUNCTIONS.values()))
      for (const count of new Set([args.length - optional, args.length + (rest ? 2 : 0)]))
        for (let place = 0; place < count; place++)
          for (const cast of ['', 'tostring', 'todynamic']) {
            let text = 'm';
            for (let depth = 0; depth < 30; depth++) text = `${cast}(${names[0]}(${Array.from({ length: count }, (_, n) => (n === place ? text : 'm')).join(', ')}))`;
            const compiled = parseAndCompile(`logs | extend x = ${text}`);
            if (compiled.kind === 'refused' && compiled.message.includes('too complex')) refused.add(names[0]);
          }
    expect([...refused]).toEqual(expect.arrayContaining(['parse_json', 'coalesce', 'parse_bytes', 'todynamic']));
  }); // prettier-ignore
});

describe('the service', () => {
  const log = new MemoryLog();
  let under: ServiceUnderTest;
  /** What statements are handed to the engine with. */
  const statements = vi.spyOn(Session.prototype, 'queryAsync');
  let judged = 0;
  beforeAll(async () => {
    under = await startForTest({ log, limits: { querySeconds: 5, queryMemoryBytes: 256 * 2 ** 20 } });
    const { client } = under;
    await client.createDataset('logs');
    const words = ['', 'a', 'Ab cd', MARK, 'x_y', '5', '2026-01-02', '{"x":[1]}', 'é😀', '\u0001'];
    await client.ingest('logs', Array.from({ length: 60 }, (_, n) => ({
      _time: new Date(Date.UTC(2026, 0, 1) + n * 700).toISOString(), a: n % 7, b: n / 8, c: words[n % words.length], d: n % 3 === 0, o: { p: n },
      m: [n, n / 3, words[n % words.length], true, [n], null][n % 6], j: [n, { x: 'y' }, null],
    }))); // prettier-ignore
  });
  afterAll(async () => {
    await under.stop();
    process.stdout.write(`hostile queries: ${judged} statements reached the engine\n`);
    statements.mockRestore();
  });

  const kinds = new Map<number, number>();
  async function send(path: string, body: unknown): Promise<Answer> {
    const answer = await under.client.call('POST', path, { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) ?? '' });
    kinds.set(answer.status, (kinds.get(answer.status) ?? 0) + 1);
    const problem = `${path} ${JSON.stringify(body)}\n${answer.text.slice(0, 300)}\n${JSON.stringify(log.find('error', '').at(-1))}`;
    for (const [sql] of statements.mock.calls) judged += judgeStatement(sql, problem);
    statements.mockClear();
    expect([200, 400, 404, 422], problem).toContain(answer.status);
    if (answer.status !== 200) expect(answer.json, problem).toMatchObject({ code: answer.status, message: expect.stringMatching(/./) });
    // What the engine says of a query never shows its statement.
    if (answer.status !== 200) expect(answer.text, problem).not.toMatch(/\bSELECT\b|ds_1|mapContains/);
    return answer;
  } // prettier-ignore

  test(`answers or refuses any text (seed ${seed})`, { timeout: 3_600_000 }, async () => {
    const format = fc.constantFrom('tabular', 'legacy');
    const ask = (texts: fc.Arbitrary<string>) => fc.asyncProperty(texts, format, async (text, form) => void (await send(`/v1/query/_apl?format=${form}`, { apl: text.replaceAll('#', 'logs') })));
    await fc.assert(ask(likely), { seed, numRuns: wanted });
    await fc.assert(ask(anything), { seed, numRuns: Math.ceil(wanted / 2) });
    process.stdout.write(`hostile queries: ${[...kinds].map(([status, count]) => `${count} × ${status}`).join(', ')}, first seed ${seed}\n`);
    expect(kinds.get(200)).toBeGreaterThan(wanted / 10);
    expect(judged).toBeGreaterThan(kinds.get(200)!);
  }); // prettier-ignore

  test(`keeps or refuses any virtual field, and answers or refuses queries that name it (seed ${seed})`, { timeout: 3_600_000 }, async () => {
    const name = fc.constantFrom('v', 'a', MARK, 'o.p', `x"'] y`, 'é😀', 'a*', '_');
    let kept = 0;
    const some = fc.tuple(name, fc.oneof({ arbitrary: expression, weight: 4 }, anything));
    await fc.assert(fc.asyncProperty(some, async ([field, text]) => {
      const made = await send('/v2/vfields', { dataset: 'logs', name: field, expression: text.replaceAll('#', 'logs') });
      if (made.status !== 200) return;
      kept++;
      const quoted = `[${JSON.stringify(field)}]`;
      await send('/v1/query/_apl', { apl: `['logs'] | where isnotnull(${quoted}) | summarize count(), make_set(${quoted}) | take 1` });
      await send('/v1/datasets/logs/query', { order: [{ field, desc: true }], limit: 2 });
      expect((await under.client.call('DELETE', `/v2/vfields/${made.json['id'] as string}`)).status).toBe(204);
    }), { seed, numRuns: Math.ceil(wanted / 5) });
    process.stdout.write(`hostile virtual fields: ${kept} kept, first seed ${seed}\n`);
    expect(kept).toBeGreaterThan(wanted / 50);
  }); // prettier-ignore

  test(`answers or refuses any body and parameters (seed ${seed})`, { timeout: 3_600_000 }, async () => {
    const scalar = fc.oneof(fc.constantFrom(null, true, 0, -1, 1.5, 1e300, '', 'now', 'now-1h', 'auto', '5m', '_time', 'a', 'count', 'and', '==', MARK), fc.string({ maxLength: 8 }));
    const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 2 }), fc.dictionary(fc.constantFrom('op', 'field', 'value', 'alias', 'argument', 'desc', 'expr', 'children'), scalar, { maxKeys: 4 }));
    const keys = ['apl', 'startTime', 'endTime', 'limit', 'cursor', 'includeCursor', 'queryOptions', 'variables', 'aggregations', 'filter', 'groupBy', 'order', 'project', 'resolution', 'virtualFields', 'continuationToken'];
    const lists = fc.array(fc.dictionary(fc.constantFrom('op', 'field', 'value', 'alias', 'argument', 'desc', 'expr', 'children'), value, { maxKeys: 5 }), { maxLength: 3 });
    const body = fc.dictionary(fc.constantFrom(...keys), fc.oneof(value, lists), { maxKeys: 6 });
    const parameter = fc.tuple(fc.constantFrom('format', 'nocache', 'saveAsKind', 'streaming-duration', 'cursor', 'other'), fc.oneof(fc.constantFrom('true', 'auto', 'apl', 'legacy'), fc.string({ maxLength: 6 })));
    const parameters = fc.array(parameter, { maxLength: 3 }).map((list) => list.map(([name, text]) => `${name}=${encodeURIComponent(text.toWellFormed())}`).join('&'));
    const path = fc.constantFrom('/v1/datasets/logs/query', '/v1/query/_apl', '/v1/datasets/_apl');
    const some = fc.tuple(path, parameters, fc.oneof({ arbitrary: body, weight: 8 }, value));
    await fc.assert(fc.asyncProperty(some, async ([where, query, what]) => void (await send(`${where}?${query}`, where === '/v1/datasets/logs/query' || typeof what !== 'object' ? what : Object.assign({ apl: "['logs']" }, what)))), { seed, numRuns: wanted });
  }); // prettier-ignore

  // Symptom: a legacy filter 5,000 deep was a 500. Cause: what walked it needed a stack.
  test('answers or refuses trees of any depth, wherever a body may have one', async () => {
    const filter = (depth: number, op: string): string => `{"op":"${op}","children":[`.repeat(depth) + '{"op":"exists","field":"a"}' + ']}'.repeat(depth);
    const array = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    const object = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);
    for (const depth of [1, 50, 99, 100, 101, 200, 249, 250, 500, 5000, 20_000])
      for (const tree of [filter(depth, 'and'), filter(depth, 'not'), array(depth), object(depth), `"${'['.repeat(depth)}"`])
        for (const [path, body] of [
          ['/v1/datasets/logs/query', `{"filter":${tree}}`],
          ['/v1/datasets/logs/query?streaming-duration=1ms', `{"filter":${tree}}`],
          ['/v1/datasets/logs/query', `{"aggregations":[{"op":"countif","alias":"x","argument":${tree}}]}`],
          ['/v1/datasets/logs/query', `{"queryOptions":{"x":${tree}}}`],
          ['/v1/query/_apl', `{"apl":"logs | count","variables":{"x":${tree}},"queryOptions":{"x":${tree}}}`],
          ['/v2/vfields', `{"dataset":"logs","name":"v","expression":${tree}}`],
          ['/v2/annotations', `{"datasets":${tree},"type":"x"}`],
          ['/v2/tokens', tree],
        ] as const) {
          const { status } = await under.client.call('POST', path, { headers: { 'content-type': 'application/json' }, body });
          expect([200, 400, 403, 413], `${path} ${depth} ${body.slice(0, 80)}`).toContain(status);
        }
    const deepest = await under.client.call('POST', '/v1/datasets/logs/query', { headers: { 'content-type': 'application/json' }, body: `{"filter":${filter(99, 'and')}}` });
    expect(deepest.status).toBe(200);
    statements.mockClear();
  }); // prettier-ignore

  test.each([
    ['time', "['logs'] | extend t = strrep('x', 1000) | extend t = strrep(t, 1000) | summarize s = sum(strlen(t))"],
    ['memory', "['logs'] | extend t = strrep(strrep('x', 1024), 1024) | summarize make_list(strcat(t, tostring(a)))"],
    ['memory', "['logs'] | extend t = strrep(strrep(strrep('x', 1024), 1024), 1024) | summarize max(t)"],
  ])('a query too large in %s is refused or answered, and the next one is served', async (_what, text) => {
    await send('/v1/query/_apl', { apl: text });
    const next = await under.client.call('POST', '/v1/query/_apl?format=tabular', {
      body: { apl: "['logs'] | count" },
    });
    expect(next.json['tables']).toMatchObject([{ columns: [[60]] }]);
  });

  // Symptom: it was a 500. Cause: the engine's refusal of a tree 1,000 deep was taken for a bug.
  test('a query whose tree is too deep for the engine is a 400 that says so', async () => {
    const { json } = await under.client.call('POST', '/v1/query/_apl', { body: { apl: `['logs'] | extend x = case(${'a == 1, c, '.repeat(600)}c)` } });
    expect(json).toMatchObject({ code: 400, message: expect.stringMatching(/too complex|takes at most/) });
  }); // prettier-ignore

  test('a query over its memory is a 400 that says so', async () => {
    const answer = await under.client.call('POST', '/v1/query/_apl', {
      body: {
        apl: "['logs'] | extend t = strrep(strrep('x', 1024), 1024) | summarize make_list(strcat(t, tostring(_rowId)))",
      },
    });
    expect(answer.json).toMatchObject({
      code: 400,
      message: expect.stringMatching(/memory limit of 256 MiB|larger than/),
    });
  });

  test('a query that its client gave up is not begun, and the next one is served', async () => {
    const { client } = under;
    const slow = { apl: "['logs'] | extend t = strrep(strrep('x', 1024), 200) | summarize dcount(hash_sha512(strcat(t, tostring(a)))) by b, a, c" };
    const ends = Array.from({ length: 5 }, async () => {
      const gone = new AbortController();
      const call = fetch(`${client.url}/v1/query/_apl`, {
        method: 'POST', signal: gone.signal, headers: { authorization: `Bearer ${client.apiToken}`, 'content-type': 'application/json' }, body: JSON.stringify(slow),
      }).then(() => 'answered', () => 'gone');
      setTimeout(() => gone.abort(), 20);
      return call;
    });
    expect(await Promise.all(ends)).toContain('gone');
    const next = await client.call('POST', '/v1/query/_apl?format=tabular', { body: { apl: "['logs'] | count" } });
    expect(next.status).toBe(200);
    expect(log.find('error', '')).toEqual([]);
  }); // prettier-ignore
});
