/** Hostile lines through pipelines, times and types of the real agent: each is a kept, counted event, and other sources go on. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { valueOf } from '../support/prometheus-text.ts';
import { addressOf, metricsOf, QUICK, startShipping, test } from '../support/shipping.ts';
import { until } from '../support/until.ts';

type Event = Record<string, unknown>;
const OWN_TIME = '"_time":"2025-11-22T10:00:00Z"';

interface Case {
  readonly lines: readonly string[];
  /** Keys of the source. */
  readonly keys: string;
  readonly outcomes?: Readonly<Record<string, number>>;
  readonly transformErrors?: number;
  readonly timeErrors?: number;
}

const A_MILLION = 1_000_000;
const OF_TYPES = ['1', '"x"', '[1,2]', '{"a":1}', 'null', 'true', '1e400', '12345678901234567890', '-0.0', '""'];
const TIMES = [
  '"0000-01-01T00:00:00Z"',
  '1e30',
  '1000000000000000000000000000000',
  '"NaN"',
  '-1',
  '{"a":"b"}',
  '"2025-02-30T00:00:00Z"',
  '"99999-01-01T00:00:00Z"',
];
const CLOCK_CHANGES = ['2025-03-30 03:30:00', '2025-10-26 03:30:00'];
const timeLines = [...TIMES, ...CLOCK_CHANGES.map((time) => `"${time}"`)].map((time) => `{"at":${time}}`);

const CASES: Readonly<Record<string, Case>> = {
  'no-json': {
    lines: ['{"level":"info"', '{"level":"info"}', '\u0000\u0001', '[]', '"text"', '{"level":"debug"}'],
    keys: `format: json, transform: 'where level != "debug" | extend inner = parse_json(message).level'`,
    outcomes: { filtered: 1 },
  },
  types: {
    lines: OF_TYPES.map((value) => `{"v":${value},${OWN_TIME}}`),
    keys: `transform: 'extend n = toint(v) * 2, t = strcat(v, "!"), l = strlen(v), a = v.a | where v > 0 or true'`,
  },
  long: {
    lines: [`k=1 ${'ab '.repeat(349_000)}user=ann`, 'user=bob'],
    keys: `transform: 'extend user = extract(@"user=(\\w+)$", 1, message) | project-away message'`,
  },
  regex: {
    lines: [`${'a'.repeat(A_MILLION)}!`, 'aaa'],
    keys: `transform: 'extend all = extract(@"^((a+)+)+$", 1, message), is = message matches regex @"^(a|a|aa)*$" | project-away message'`,
  },
  expand: {
    lines: [`{"items":[${'1,'.repeat(A_MILLION - 1)}1],${OWN_TIME}}`, `{"items":[1,2],${OWN_TIME}}`],
    keys: 'max_event_bytes: 10MiB, transform: mv-expand items',
    transformErrors: 1,
  },
  grow: {
    lines: ['x'.repeat(A_MILLION), 'small'],
    keys: `transform: 'extend message = strcat(${Array(11).fill('message').join(', ')})'`,
    transformErrors: 1,
  },
  hides: {
    lines: ['x'.repeat(A_MILLION), 'small'],
    keys: `transform: 'extend message = strcat(${Array(11).fill('message').join(', ')}) | project-away password'`,
    outcomes: { dead_lettered: 1 },
    transformErrors: 1,
  },
  times: { lines: timeLines, keys: 'time: {field: at, timezone: Europe/Athens}', timeErrors: TIMES.length },
  'any-times': {
    lines: [...CLOCK_CHANGES, '0000-01-01T00:00:00Z', `{"_time":"NaN"}`],
    keys: 'time: {timezone: Europe/Athens}',
  },
  healthy: { lines: ['still here'], keys: 'format: auto' },
};

test('whatever lines hold, their events are kept and counted, and no source holds up another', async ({ site }) => {
  const sources: Record<string, string> = {};
  for (const [name, { lines, keys }] of Object.entries(CASES)) {
    const file = join(site.folder, 'logs', `${name}.log`);
    writeFileSync(file, `${lines.join('\n')}\n`);
    sources[name] = `{type: file, include: ["${file}"], fields: {case: ${name}}, ${keys}}`;
  }
  const agent = startShipping(site, { sources, sink: `${QUICK}, concurrency: 1, batch: {max_age: 50ms}` });
  const address = await addressOf(agent);
  const metrics = async () => await metricsOf(address);
  await until('all is settled', async () => {
    const now = await metrics();
    return Object.entries(CASES).every(
      ([source, { lines }]) =>
        valueOf(now, 'tailrace_events_total', { source, outcome: 'accepted' }) === lines.length &&
        valueOf(now, 'tailrace_events_held', { source }) === 0,
    );
  });

  const last = await metrics();
  for (const [source, { lines, outcomes = {}, transformErrors = 0, timeErrors = 0 }] of Object.entries(CASES)) {
    const count = (outcome: string) => valueOf(last, 'tailrace_events_total', { source, outcome });
    const unsent = Object.values(outcomes).reduce((sum, events) => sum + events, 0);
    const wanted = { dead_lettered: 0, dropped: 0, filtered: 0, ...outcomes, delivered: lines.length - unsent };
    expect([source, Object.fromEntries(Object.keys(wanted).map((outcome) => [outcome, count(outcome)]))]).toEqual([
      source,
      wanted,
    ]);
    expect([source, valueOf(last, 'tailrace_transform_errors_total', { source }) ?? 0]).toEqual([
      source,
      transformErrors,
    ]);
    expect([source, valueOf(last, 'tailrace_source_time_errors_total', { source }) ?? 0]).toEqual([source, timeErrors]);
  }
  expect(await agent.end()).toBe(0);

  const stored = (name: string): Event[] =>
    site.service.stored
      .filter((event) => event.includes(`"case":"${name}"`))
      .map((event) => JSON.parse(event) as Event);
  expect(
    stored('no-json').map(({ message, parse_error: error, level }) => [message, error !== undefined, level]),
  ).toEqual([
    ['{"level":"info"', true, undefined],
    [undefined, false, 'info'],
    ['\u0000\u0001', true, undefined],
    ['[]', true, undefined],
    ['"text"', true, undefined],
  ]);
  const types = site.service.stored.filter((event) => event.includes('"case":"types"'));
  expect(types.map((event) => /^\{"v":(.*?),"_time"/.exec(event)?.[1])).toEqual(OF_TYPES);
  expect(stored('types').map(({ n, t, a }) => [n, t, a])).toEqual([
    [2, '1!', undefined],
    [undefined, 'x!', undefined],
    [undefined, '[1,2]!', undefined],
    [undefined, '{"a":1}!', 1],
    [undefined, '!', undefined],
    [2, 'true!', undefined],
    [undefined, expect.stringMatching(/!$/), undefined],
    [undefined, expect.stringMatching(/^1234567890123456\d+!$/), undefined],
    [0, expect.stringMatching(/0!$/), undefined],
    [undefined, '!', undefined],
  ]);
  expect(stored('long').map(({ user }) => user)).toEqual(['ann', 'bob']);
  expect(stored('regex').map(({ all, is }) => [all, is])).toEqual([
    [undefined, false],
    ['aaa', true],
  ]);
  const [whole, ...parts] = stored('expand');
  expect(whole).toMatchObject({ transform_error: expect.any(String) });
  expect(whole?.['items']).toHaveLength(A_MILLION);
  expect(parts.map(({ items }) => items)).toEqual([1, 2]);
  const [kept, grown] = stored('grow');
  expect(kept).toMatchObject({ transform_error: expect.any(String) });
  expect(String(kept?.['message']).length).toBe(A_MILLION);
  expect(grown?.['message']).toBe('small'.repeat(11));
  expect(stored('hides').map(({ message }) => message)).toEqual(['small'.repeat(11)]);
  const times = stored('times');
  expect(times.map(({ time_error: error }) => error)).toEqual([
    ...[
      '0000-01-01T00:00:00Z',
      '1e30',
      '1000000000000000000000000000000',
      'NaN',
      '-1',
      '{"a":"b"}',
      '2025-02-30T00:00:00Z',
      '99999-01-01T00:00:00Z',
    ],
    ...[undefined, undefined],
  ]);
  // The hour that is left out counts with the offset before it; of the one that comes twice the later is nearer.
  const clockChanges = ['2025-03-30T01:30:00Z', '2025-10-26T01:30:00Z'];
  expect(times.slice(-2).map(({ _time }) => _time)).toEqual(clockChanges);
  const [gap, fold, yearZero, own] = stored('any-times');
  expect([gap?.['_time'], fold?.['_time'], own?.['_time']]).toEqual([...clockChanges, 'NaN']);
  expect(Date.parse(String(yearZero?.['_time']))).toBeGreaterThan(Date.parse('2000-01-01'));
  expect(stored('healthy').map(({ message }) => message)).toEqual(['still here']);
});
