/** Pagination of both query forms, by time and by cursor, exact over events of one instant and while ingest goes on. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ALWAYS, APL, apl, objectsOf, refused } from './ask.ts';
import { client, dataset } from './under.ts';

interface Page {
  readonly seqs: readonly number[];
  readonly status: Readonly<Record<string, unknown>>;
  readonly times: readonly string[];
}
type Ask = (body: object) => Promise<Page>;
type Match = { readonly _time: string; readonly _rowId: string; readonly data: { readonly seq: number } };

const START = Date.UTC(2026, 0, 1);

describe('pagination', () => {
  let logs: string;
  /** 1,000 at one instant, 300 around it. */
  beforeAll(async () => {
    logs = await dataset();
    const time = (n: number): string =>
      new Date(START + (n < 150 ? n - 150 : n < 1150 ? 0 : n - 1149))
        .toISOString()
        .replace('Z', n < 1150 && n >= 150 ? '000500Z' : 'Z');
    const events = Array.from({ length: 1300 }, (_, n) => ({ _time: time(n), seq: n }));
    // In several requests and not in order.
    for (const from of [900, 0, 600, 300])
      await client.ingest(logs, events.slice(from, from + (from === 900 ? 400 : 300)));
  });

  const byText =
    (limit: number, direction: 'asc' | 'desc'): Ask =>
    async (body) => {
      const result = await apl(`['${logs}'] | sort by _time ${direction} | limit ${limit}`, { limit, ...body });
      const found = objectsOf(result.tables[0]!);
      return {
        seqs: found.map(({ seq }) => seq as number),
        status: result.status,
        times: found.map(({ _time }) => _time as string),
      };
    };
  const byLegacy =
    (limit: number, direction: 'asc' | 'desc'): Ask =>
    async (body) => {
      const order = [{ field: '_time', desc: direction === 'desc' }];
      const answer = await client.call('POST', `/v1/datasets/${logs}/query`, {
        body: { ...ALWAYS, limit, order, ...body },
      });
      if (answer.status !== 200) throw new Error(answer.text);
      const matches = answer.json['matches'] as Match[];
      return {
        seqs: matches.map(({ data }) => data.seq),
        status: answer.json['status'] as Record<string, unknown>,
        times: matches.map(({ _time }) => _time),
      };
    };
  const forms = [
    ['by text', byText],
    ['legacy', byLegacy],
  ] as const;

  /** All pages, by the rule of the specification: the end is reached when the cursor returned is the one sent. */
  async function pages(ask: Ask, name: 'minCursor' | 'maxCursor', between?: () => Promise<void>): Promise<number[]> {
    const seen: number[] = [];
    let cursor = '';
    for (let n = 0; n < 100; n++) {
      const { seqs, status } = await ask(cursor === '' ? {} : { cursor });
      seen.push(...seqs);
      const next = String(status[name]);
      if (next === cursor) {
        expect(seqs).toEqual([]);
        return seen;
      }
      cursor = next;
      await between?.();
    }
    throw new Error('the pages do not end');
  }
  const expected = Array.from({ length: 1300 }, (_, n) => n);
  const sorted = (seqs: readonly number[]): number[] => [...seqs].sort((a, b) => a - b);

  describe.each(forms)('%s', (_name, form) => {
    test('by cursor, newest first: minCursor leads through every event once', async () => {
      const seen = await pages(form(123, 'desc'), 'minCursor');
      expect(sorted(seen)).toEqual(expected);
      expect(seen.slice(0, 150)).toEqual(Array.from({ length: 150 }, (_, n) => 1299 - n));
      expect(seen.slice(-150)).toEqual(Array.from({ length: 150 }, (_, n) => 149 - n));
    });

    test('by cursor, oldest first: maxCursor leads through every event once', async () => {
      const seen = await pages(form(97, 'asc'), 'maxCursor');
      expect(sorted(seen)).toEqual(expected);
      expect(seen.slice(0, 150)).toEqual(Array.from({ length: 150 }, (_, n) => n));
    });

    test('both orders are each other’s reverse', async () => {
      expect(await pages(form(500, 'asc'), 'maxCursor')).toEqual(
        (await pages(form(333, 'desc'), 'minCursor')).reverse(),
      );
    });

    test('minCursor is the oldest event of the page and maxCursor the newest', async () => {
      const { status } = await form(5, 'desc')({});
      const { status: again } = await form(5, 'asc')({ cursor: status['minCursor'], includeCursor: true, limit: 5 });
      expect([again['minCursor'], again['maxCursor']]).toEqual([status['minCursor'], status['maxCursor']]);
      expect(status['rowsMatched']).toBe(1300);
    });

    test('a cursor is exclusive unless includeCursor is set', async () => {
      const first = await form(10, 'desc')({});
      const cursor = first.status['minCursor'];
      expect((await form(3, 'desc')({ cursor })).seqs).toEqual([1289, 1288, 1287]);
      expect((await form(3, 'desc')({ cursor, includeCursor: true })).seqs).toEqual([1290, 1289, 1288]);
    });

    test('by time, newest first: endTime of the last event leads on, overlaps dropped', async () => {
      const seen = new Set<number>();
      let endTime = ALWAYS.endTime;
      for (;;) {
        const { seqs, times } = await form(1150, 'desc')({ endTime });
        if (seqs.length === 0) break;
        for (const seq of seqs) seen.add(seq);
        endTime = times.at(-1)!;
      }
      expect(seen.size).toBe(1300);
    });

    test('by time, oldest first: startTime one nanosecond on', async () => {
      const seen: number[] = [];
      let { startTime } = ALWAYS;
      for (;;) {
        const { seqs, times } = await form(1150, 'asc')({ startTime });
        if (seqs.length === 0) break;
        seen.push(...seqs);
        startTime = times
          .at(-1)!
          .replace(/(\.\d+)?Z$/, (_, fraction: string = '.') => `${fraction.padEnd(10, '0').slice(0, 9)}1Z`);
      }
      expect(sorted(seen)).toEqual(expected);
    });

    test('is stable while ingest goes on: earlier events come once, in one order', async () => {
      const before = await pages(form(250, 'desc'), 'minCursor');
      let added = 5000;
      const during = await pages(form(50, 'desc'), 'minCursor', async () => {
        // Newer ones, and some at the instant that all of them share.
        const newer = new Date(START + 3_600_000 + added).toISOString();
        await client.ingest(logs, [
          { _time: newer, seq: added++ },
          { _time: '2026-01-01T00:00:00.000000500Z', seq: added++ },
        ]);
      });
      expect(during.filter((seq) => seq < 5000)).toEqual(before);
      expect(new Set(during).size).toBe(during.length);
      // Put back what the next tests count on.
      const fresh = await dataset();
      await client.ingest(
        fresh,
        expected.map((seq) => ({
          _time: new Date(START + (seq < 150 ? seq - 150 : seq < 1150 ? 0 : seq - 1149))
            .toISOString()
            .replace('Z', seq < 1150 && seq >= 150 ? '000500Z' : 'Z'),
          seq,
        })),
      );
      logs = fresh;
    });
  });

  test('the cursor may come as a query parameter', async () => {
    const { status } = await byText(10, 'desc')({});
    const body = { apl: `['${logs}'] | sort by _time desc | limit 2 | project seq`, ...ALWAYS };
    const path = `${APL}&cursor=${String(status['minCursor'])}&includeCursor=true`;
    expect((await client.call('POST', path, { body })).json).toMatchObject({ tables: [{ columns: [[1290, 1289]] }] });
  });

  test('the ids of events are cursors, _rowId and _cursor', async () => {
    const { tables } = await apl(`['${logs}'] | sort by _time desc | take 5 | project seq, _rowId`, {
      includeCursorField: true,
    });
    expect(tables[0]!.fields.map(({ name }) => name)).toEqual(['seq', '_rowId', '_cursor']);
    expect(tables[0]!.columns[2]).toEqual(tables[0]!.columns[1]);
    expect((await byText(2, 'desc')({ cursor: tables[0]!.columns[1]![4] })).seqs).toEqual([1294, 1293]);
  });

  test('continuationToken goes on where the page ended, and is empty at the end', async () => {
    const seen: number[] = [];
    let continuationToken = '';
    do {
      const { seqs, status } = await byLegacy(400, 'desc')({ continuationToken });
      seen.push(...seqs);
      continuationToken = String(status['continuationToken']);
    } while (continuationToken !== '');
    expect(sorted(seen)).toEqual(expected);
  });

  describe('a page that its limit fills', () => {
    const found = async (operators: string, body: object = {}) => {
      const { status, tables } = await apl(`['${logs}'] | where seq < 10 ${operators}`, body);
      return {
        seqs: tables[0]!.columns.at(-1),
        token: status['continuationToken'],
        minCursor: status['minCursor'],
        matched: status['rowsMatched'],
      };
    };
    const all = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0];

    test.each([
      ['the text', '| take 10', '| take 4', {}, {}],
      ['the request', '', '', { limit: 10 }, { limit: 4 }],
      ['both', '| take 10', '| take 10', { limit: 10 }, { limit: 4 }],
      [
        'the text, sorted',
        '| sort by _time desc | take 10 | project seq',
        '| sort by _time desc | take 4 | project seq',
        {},
        {},
      ],
    ])(
      'has a continuationToken only when there are more: %s',
      async (_what, exactly, fewer, bodyExactly, bodyFewer) => {
        expect(await found(exactly, bodyExactly)).toMatchObject({ seqs: all, token: '', matched: 10 });
        const first = await found(fewer, bodyFewer);
        expect(first).toMatchObject({ seqs: [9, 8, 7, 6], token: first.minCursor, matched: 10 });
        expect(first.token).toMatch(/^[0-9a-f]{32}$/);
        const second = await found(fewer, { ...bodyFewer, cursor: first.token });
        expect(second).toMatchObject({ seqs: [5, 4, 3, 2], token: second.minCursor, matched: 10 });
        expect(await found(fewer, { ...bodyFewer, cursor: second.token })).toMatchObject({
          seqs: [1, 0],
          token: '',
          matched: 10,
        });
      },
    );

    test.each([
      ['fewer than the limit', '| take 11', all],
      ['none left', '| take 0', []],
      ['a where behind the limit', '| take 5 | where seq > 7', [9, 8]],
      ['two limits', '| take 6 | take 2', [9, 8]],
      ['a column made of it', '| take 3 | extend twice = seq * 2 | project seq', [9, 8, 7]],
    ])('rowsMatched counts what met the condition before: %s', async (_what, operators, seqs) => {
      expect(await found(operators)).toMatchObject({ seqs, matched: 10 });
    });
  });

  test('a malformed cursor, or a query that is not sorted by time alone, is 400', async () => {
    const { status } = await byText(10, 'desc')({});
    const cursor = status['minCursor'];
    expect(await refused(`['${logs}']`, { cursor: 'x' })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('cursor') },
    });
    for (const text of ['sort by seq asc', 'summarize count()', 'sort by _time desc, seq asc'])
      expect(await refused(`['${logs}'] | ${text}`, { cursor })).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('cursor') },
      });
  });

  test('an empty cursor counts as absent', async () => {
    expect((await byText(2, 'desc')({ cursor: '' })).seqs).toEqual([1299, 1298]);
    expect((await byLegacy(2, 'desc')({ cursor: '' })).seqs).toEqual([1299, 1298]);
  });
});
