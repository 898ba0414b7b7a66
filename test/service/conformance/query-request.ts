/** Queries by text: the request, its range, its limits, its refusals. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ALWAYS, apl, refused, rows } from './ask.ts';
import { client, dataset } from './under.ts';

let logs: string;
const START = Date.UTC(2026, 0, 1);
const at = (second: number): string => new Date(START + second * 1000).toISOString();

describe('queries by text', () => {
  beforeAll(async () => {
    logs = await dataset();
    await client.ingest(
      logs,
      Array.from({ length: 1500 }, (_, n) => ({ _time: at(n), seq: n, level: ['info', 'warn', 'error'][n % 3] })),
    );
  });

  describe('the request of a query by text', () => {
    test.each(['/v1/datasets/_apl', '/v1/query/_apl'])('%s answers in both forms', async (path) => {
      const body = { apl: `['${logs}'] | take 1`, ...ALWAYS };
      expect((await client.call('POST', `${path}?format=tabular`, { body })).json['format']).toBe('tabular');
      expect((await client.call('POST', `${path}?format=legacy`, { body })).json['format']).toBe('legacy');
      expect((await client.call('POST', path, { body })).json['format']).toBe('legacy');
    });

    test('a token without the right to query this dataset gets a 403 with the reason', async () => {
      const made = await client.call('POST', '/v2/tokens', {
        token: client.personalToken,
        headers: { 'x-service-org-id': client.orgId },
        body: { name: 'narrow', datasetCapabilities: { other: { query: ['read'] } } },
      });
      expect(made.status).toBe(200);
      const token = String(made.json['token']);
      const answer = await client.call('POST', '/v1/query/_apl', { token, body: { apl: `['${logs}']` } });
      expect(answer.json).toMatchObject({ code: 403, message: expect.stringContaining(logs) });
    });

    test.each([
      ['nocache=true'],
      ['nocache=True'],
      ['nocache=false'],
      ['streaming-duration=50ms'],
      ['streaming-duration=auto'],
      ['streaming-duration=50000000'],
    ])('%s is accepted', async (query) => {
      const answer = await client.call('POST', `/v1/query/_apl?format=tabular&${query}`, {
        body: { apl: `['${logs}'] | count`, ...ALWAYS },
      });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('x-service-history-query-id')).toBeNull();
    });

    test.each(['analytics', 'stream', 'apl'])('saveAsKind=%s is answered with a history id', async (kind) => {
      const body = { apl: `['${logs}'] | count`, ...ALWAYS };
      const byText = await client.call('POST', `/v1/query/_apl?saveAsKind=${kind}`, { body });
      expect(byText.headers.get('x-service-history-query-id')).toMatch(/./);
      const legacy = await client.call('POST', `/v1/datasets/${logs}/query?saveAsKind=${kind}`, { body: ALWAYS });
      expect(legacy.headers.get('x-service-history-query-id')).toMatch(/./);
    });

    test.each([
      'format=csv',
      'saveAsKind=other',
      'streaming-duration=soon',
      'nocache=maybe',
      'format=legacy&format=tabular',
    ])('%s is 400', async (query) => {
      const answer = await client.call('POST', `/v1/query/_apl?${query}`, { body: { apl: `['${logs}']` } });
      expect(answer.json).toEqual({ code: 400, message: expect.stringMatching(/./) });
    });

    test('queryOptions are accepted whole, and resolution sets the width of bin_auto', async () => {
      const queryOptions = {
        against: '',
        againstStart: '',
        againstTimestamp: '',
        caseSensitive: '0',
        containsTimeFilter: 'false',
        datasets: logs,
        displayNull: 'auto',
        editorContent: 'x',
        endColumn: '10',
        endLineNumber: '1',
        endTime: 'now',
        integrationsFilter: '[]',
        openIntervals: 'true',
        quickRange: '30m',
        resolution: '5m',
        startColumn: '1',
        startLineNumber: '1',
        startTime: 'now-30m',
        timeSeriesView: 'charts',
      };
      const { tables } = await apl(`['${logs}'] | summarize count() by bin_auto(_time)`, { queryOptions });
      expect(tables[0]!.buckets).toEqual({ field: '_time', size: 300e9 });
      expect(tables[0]!.columns[0]).toEqual([0, 300, 600, 900, 1200].map((second) => at(second).replace('.000', '')));
    });

    test('variables of the request can be named in the text, and let goes before them', async () => {
      const variables = { least: 1490, word: 'info' };
      expect(await rows(`['${logs}'] | where seq >= least and level == word | count`, { variables })).toEqual([[3]]);
      expect(await rows(`let least = 1499; ['${logs}'] | where seq >= least | count`, { variables })).toEqual([[1]]);
    });
  });

  describe('the range of a query', () => {
    const count = async (body: object): Promise<unknown> => (await rows(`['${logs}'] | count`, body))[0]![0];

    test('is [startTime, endTime)', async () => {
      expect(
        await rows(`['${logs}'] | sort by _time asc | project seq`, { startTime: at(10), endTime: at(13) }),
      ).toEqual([[10], [11], [12]]);
    });

    test.each([
      [{ startTime: '', endTime: '' }, 1500],
      [{ startTime: null, endTime: null }, 1500],
      [{ startTime: 'now-1h', endTime: 'now' }, 0],
      [{ startTime: 'now-100w', endTime: 'now' }, 1500],
      [{ startTime: '2026-01-01T03:00:10+03:00', endTime: at(20) }, 10],
      [{ startTime: at(20), endTime: at(10) }, 0],
      [{ startTime: '0001-01-01T00:00:00Z', endTime: '9999-12-31T23:59:59Z' }, 1500],
    ])('%j has %i events', async (body, wanted) => {
      expect(await count(body)).toBe(wanted);
    });

    test('a filter of the text narrows it further', async () => {
      expect(
        await rows(`['${logs}'] | where _time < datetime(2026-01-01T00:00:05Z) | count`, { startTime: at(2) }),
      ).toEqual([[3]]);
    });

    test('is shown in the result', async () => {
      const { tables } = await apl(`['${logs}'] | take 1`, { startTime: at(1), endTime: at(2) });
      expect(tables[0]!.range).toEqual({ field: '_time', start: '2026-01-01T00:00:01Z', end: '2026-01-01T00:00:02Z' });
    });

    test('without an end is up to now, and says so', async () => {
      const { status } = await apl(`['${logs}'] | count`, { endTime: '' });
      expect(status.messages).toEqual([
        {
          priority: 'warn',
          count: 1,
          code: 'apl_implicitendtimeofnowapplied_1',
          msg: "line: 1, col: 1: implicit end time of 'now' applied",
        },
      ]);
    });

    test.each(['yesterday', 'now-1parsec', '2026-13-01T00:00:00Z', '{}'])('the bound %j is 400', async (startTime) => {
      // It is no place in the text: the message says which bound.
      expect(await refused(`['${logs}']`, { startTime })).toEqual({
        status: 400,
        body: { code: 400, message: expect.stringContaining('startTime ') },
      });
      expect(await refused(`['${logs}']`, { endTime: startTime })).toEqual({
        status: 400,
        body: { code: 400, message: expect.stringContaining('endTime ') },
      });
    });
  });

  describe('the limit of a query', () => {
    const length = async (text: string, body: object = {}): Promise<number> =>
      (await apl(`['${logs}']${text}`, body)).tables[0]!.columns[0]!.length;

    test.each([
      ['', {}, 1000],
      ['', { limit: 1200 }, 1200],
      ['', { defaultLimit: 1200 }, 1200],
      ['', { limit: 0 }, 1000],
      ['', { limit: 7 }, 7],
      ['| limit 1200', {}, 1200],
      ['| limit 1200', { limit: 5 }, 5],
      ['| limit 5', { limit: 1200 }, 5],
      ['| limit 1300', { limit: 1200 }, 1200],
      ['| limit 100000', {}, 1500],
      ['| where seq < 10', { limit: 4 }, 4],
      ['| project seq', {}, 1000],
      ['| distinct seq', {}, 1500],
      ['| summarize count() by seq', {}, 1500],
      ['| summarize count() by seq', { limit: 3 }, 3],
      ['| limit 0', {}, 0],
    ])('%j with %j gives %i rows', async (text, body, wanted) => {
      expect(await length(text, body)).toBe(wanted);
    });

    test('is 1,000 in the legacy form, too, and 50,000 at the most in both', async () => {
      const many = await dataset();
      for (let n = 0; n < 6; n++) await client.ingest(many, '{"a":1}\n'.repeat(n < 5 ? 10_000 : 1));
      const legacy = async (body: object): Promise<number> =>
        (await client.query(many, { ...ALWAYS, ...body })).matches.length;
      expect([await legacy({}), await legacy({ limit: 60_000 })]).toEqual([1000, 50_000]);
      for (const [text, limit] of [
        ['| limit 60000', 60_000],
        ['| limit 60000', undefined],
        ['', 60_000],
      ] as const) {
        const { tables, status } = await apl(`['${many}']${text} | project a`, { limit });
        expect([tables[0]!.columns[0]!.length, status['rowsMatched']]).toEqual([50_000, 50_001]);
      }
    });

    test('leaves the full count in rowsMatched', async () => {
      const { status } = await apl(`['${logs}'] | where seq >= 100 | limit 3`);
      expect(status['rowsMatched']).toBe(1400);
    });
  });

  describe('the refusal of a query', () => {
    const place = (line: number, column: number, errorType: number) => ({
      message: expect.any(String),
      line,
      column,
      errorType,
    });

    test.each([
      ['where', "['#'] | where", 1, expect.stringContaining('the query ends here')],
      ['an unknown operator', "['#'] | wher x == 1", 1, expect.stringContaining('did you mean where')],
      ['an unknown function', "['#'] | where strlne(x) > 1", 2, expect.stringContaining('did you mean strlen')],
      ['an aggregation outside summarize', "['#'] | extend x = count()", 2, expect.stringContaining('summarize')],
      ['no aggregation in summarize', "['#'] | summarize x", 2, expect.stringContaining('wanted an aggregation')],
      ['types that cannot be', "['#'] | where 'a' > 1", 2, expect.stringContaining('does not go with')],
      ['a sum of text', "['#'] | summarize sum('a')", 2, expect.stringMatching(/./)],
      ['too few arguments', "['#'] | extend x = substring('a')", 2, expect.stringContaining('takes 2 to 3 arguments')],
      ['too many arguments', "['#'] | extend x = strlen('a', 'b')", 2, expect.stringContaining('takes 1 argument')],
      ['a column that is gone', "['#'] | project a | where b == 1", 2, expect.stringContaining('there is no column')],
      ['one = to compare', "['#'] | where a = 1", 1, expect.stringContaining('==')],
      ['a string without an end', "['#'] | where a == 'x", 1, expect.stringContaining('no end')],
      ['a character without meaning', "['#'] | where a == §", 1, expect.stringContaining('no meaning')],
      ['a bin of no size', "['#'] | summarize count() by bin(a, 0)", 2, expect.stringContaining('more than zero')],
      ['a percentile over 100', "['#'] | summarize percentile(a, 101)", 2, expect.stringContaining('0 to 100')],
      [
        'an integer that is too large',
        "['#'] | where a == 9223372036854775808",
        1,
        expect.stringContaining('does not fit into 64 bits'),
      ],
      [
        'an integer that is too large in parentheses',
        "['#'] | where a == -(9223372036854775808)",
        1,
        expect.stringContaining('does not fit into 64 bits'),
      ],
      [
        'an integer that is too large in JSON',
        "['#'] | where a == dynamic(9223372036854775808)",
        1,
        expect.stringContaining('does not fit into 64 bits'),
      ],
      [
        'an integer that is too small',
        "['#'] | where a == -9223372036854775809",
        1,
        expect.stringContaining('does not fit into 64 bits'),
      ],
      ['something behind the end', "['#'] | count 5", 1, expect.stringContaining('wanted |')],
    ])('of %s is 400 with its place', async (_name, text, errorType, message) => {
      const { status, body } = await refused(text.replace('#', logs));
      expect(status).toBe(400);
      expect(body).toEqual({ code: 400, message, detail: { message, line: 1, column: expect.any(Number), errorType } });
    });

    test.each([
      ['a sign that cannot be there', '\n| where )', 2, 9],
      ['what follows an expression', ' | take 5\n| where seq > 1 2', 2, 17],
      ['the end', '\n| where', 2, 8],
      ['a name', '\n\n  | sort seq', 3, 10],
    ])('names the place of %s', async (_what, text, line, column) => {
      expect((await refused(`['${logs}']${text}`)).body['detail']).toMatchObject({ line, column, errorType: 1 });
    });

    test('names line and column of the place', async () => {
      const { body } = await refused(`['${logs}']\n| where seq > 1 // more to come\n  | extend ü = nope(seq)`);
      expect(body['detail']).toEqual({ ...place(3, 16, 2), message: 'unknown function "nope"' });
      expect(body['message']).toBe('line 3, column 16: unknown function "nope"');
    });

    test('of an unknown dataset is 404 and says not found', async () => {
      const { status, body } = await refused('nowhere-at-all | take 1');
      expect(status).toBe(404);
      expect(body).toEqual({ code: 404, message: expect.stringContaining('not found'), detail: { ...place(1, 1, 3) } });
    });

    test.each([[''], ['  \n'], [undefined], [null]])('of the empty query %j is 422', async (text) => {
      expect(await refused(text)).toMatchObject({ status: 422, body: { code: 422 } });
    });

    test.each([[5], [['x']], [{}]])('of apl: %j is 400', async (text) => {
      expect(await refused(text)).toMatchObject({ status: 400, body: { code: 400 } });
    });

    test.each([
      ['a body that is no object', '[]', 400],
      ['broken JSON', '{"apl":', 400],
    ])('of %s is %i', async (_name, body, status) => {
      const answer = await client.call('POST', '/v1/query/_apl', {
        headers: { 'content-type': 'application/json' },
        body,
      });
      expect(answer.status).toBe(status);
    });

    test('of a text over 64 KiB, over 5,000 parts, nested deeper than 100 or with more than 100 operators is 400', async () => {
      for (const text of [
        `['${logs}'] | where x == '${'x'.repeat(65_000)}${'y'.repeat(1000)}'`,
        `['${logs}'] | where x in (${Array.from({ length: 5000 }, (_, n) => n).join(',')})`,
        `['${logs}'] | where ${'('.repeat(101)}true${')'.repeat(101)}`,
        `['${logs}'] | extend x = ${'1+'.repeat(101)}1`,
        `['${logs}'] | extend x = a${'.a'.repeat(101)}`,
        `['${logs}']${' | where true'.repeat(101)}`,
      ])
        expect((await refused(text)).status).toBe(400);
    });

    test('of a pattern that cannot be compiled is 400', async () => {
      expect(await refused(`['${logs}'] | where level matches regex '('`)).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('regular expression'), detail: { errorType: 4 } },
      });
    });
  });
});
