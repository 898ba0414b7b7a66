/** `group`: lines that carry the same key become one event. Bounds, and what ends an event; restarts are in group-random.test.ts. */
import { expect, test } from 'vitest';
import { MAX_GROUP_BYTES, MAX_GROUPS, MAX_JOINED_LINES } from '../../src/sources/framing/limits.ts';
import { createGroupRig, read, START } from './group-rig.ts';
import { make } from './made.ts';

const GROUP = "group: {by: 'k=(\\w+)', within: 1s}";
const at = (ms: number): string => new Date(Date.parse('2026-11-22T17:00:00Z') + ms).toISOString();

/** The messages of these lines' events, each line without its time. */
async function eventsOf(lines: readonly string[], source = GROUP): Promise<string[][]> {
  const rig = await createGroupRig(source);
  const { events } = read(rig, Buffer.from(lines.map((line) => `${line}\n`).join('')), START, [100]);
  return events.map(({ message }) => message.split('\n').map((line) => line.replace(/^\S+Z /, '')));
}

test.for<[name: string, lines: string[], events: string[][]]>([
  [
    'lines of others between',
    ['k=a 1', 'k=b 1', 'k=a 2', 'k=b 2'],
    [
      ['k=a 1', 'k=a 2'],
      ['k=b 1', 'k=b 2'],
    ],
  ],
  ['lines without a key between', ['k=a 1', 'x', 'k=a 2'], [['k=a 1', 'k=a 2'], ['x']]],
  ['empty lines between', ['', 'k=a 1', '', '', 'k=a 2', ''], [['k=a 1', 'k=a 2']]],
  ['a CR at their ends', ['k=a 1\r', 'k=a 2\r'], [['k=a 1', 'k=a 2']]],
  ['the last moment', [`${at(0)} k=a 1`, `${at(1000)} k=a 2`], [['k=a 1', 'k=a 2']]],
  [
    'more than `within` after the first line',
    [`${at(0)} k=a 1`, `${at(900)} k=a 2`, `${at(1001)} k=a 3`],
    [['k=a 1', 'k=a 2'], ['k=a 3']],
  ],
  [
    '`within` counted while an older event is open',
    [`${at(0)} k=a 1`, `${at(10)} k=b 1`, `${at(1005)} k=b 2`, `${at(1011)} k=b 3`],
    [['k=a 1'], ['k=b 1', 'k=b 2'], ['k=b 3']],
  ],
  ['a time before the first line', [`${at(5000)} k=a 1`, `${at(0)} k=a 2`], [['k=a 1', 'k=a 2']]],
])('group with %s', async ([, lines, events]) => {
  expect(await eventsOf(lines)).toEqual(events);
});

test('group takes the key from all groups of the pattern, or from the whole match', async () => {
  const lines = ['k=a n=1', 'k=a n=2', 'k=a n=1'];
  expect(await eventsOf(lines, "group: {by: 'k=(\\w+) n=(\\d)'}")).toEqual([['k=a n=1', 'k=a n=1'], ['k=a n=2']]);
  expect(await eventsOf(lines, "group: {by: 'k=a n=\\d'}")).toEqual([['k=a n=1', 'k=a n=1'], ['k=a n=2']]);
  expect(await eventsOf(lines, "group: {by: '(?:k)=a'}")).toEqual([lines]);
});

test('group gives an event the fields of all its records, the first value of a name, and all types', async () => {
  const lines = [
    '{"id":"k=a","type":"one","n":1,"big":12345678901234567890}',
    '{"id":"k=a","type":"two","n":2,"more":true}',
    'k=b plain',
  ];
  const { events, lines: texts } = await make(GROUP, lines.join('\n'));
  const message = lines.slice(0, 2).join('\n');
  expect(events).toMatchObject([
    { id: 'k=a', type: ['one', 'two'], n: 1, more: true, message },
    { message: 'k=b plain' },
  ]);
  expect(texts[0]).toContain('"big":12345678901234567890');
});

test.for([
  ['json', 'k=a no object', { message: 'k=a no object', parse_error: 'not a JSON object' }],
  ['text', '{"a":"k=a"}', { message: '{"a":"k=a"}' }],
  ['logfmt', 'k=a level=warn', { k: 'a', level: 'warn' }],
] as const)('group with format %s reads lines as without', async ([format, line, event]) => {
  expect((await make(`format: ${format}\n${GROUP}`, `${line}\n`)).events).toMatchObject([event]);
});

test('group reads other charsets, and what a byte order mark names', async () => {
  const text = 'k=a ä\nk=b\nk=a ö\n';
  for (const [source, bytes] of [
    [`charset: utf-16le\n${GROUP}`, Buffer.from(text, 'utf16le')],
    [GROUP, Buffer.from(`\ufeff${text}`, 'utf16le')],
    [GROUP, Buffer.from(`\ufeff${text}`)],
  ] as const) {
    const { events } = read(await createGroupRig(source), bytes, START, [3]);
    expect(events).toEqual([
      {
        message: 'k=a ä\nk=a ö',
        end: bytes.indexOf(source === GROUP && bytes[0] === 0xef ? 'k=b' : Buffer.from('k=b', 'utf16le')),
      },
      { message: 'k=b', end: bytes.length },
    ]);
  }
});

test('group closes the oldest of 1,000 events for the next one', async () => {
  const rig = await createGroupRig(GROUP);
  const lines = (count: number): Buffer =>
    Buffer.from([...Array(count).keys()].map((n) => `k=x${n}\n`).join('') + 'k=x0 more\nk=x1 more\n');
  const messages = (count: number): string[] =>
    read(rig, lines(count), START, [1 << 16]).events.map(({ message }) => message);
  expect(messages(MAX_GROUPS).slice(0, 2)).toEqual(['k=x0\nk=x0 more', 'k=x1\nk=x1 more']);
  expect(messages(MAX_GROUPS + 1)).toHaveLength(MAX_GROUPS + 3);
});

test('group keeps at most 4 MiB from the first line of the oldest event on', async () => {
  const rig = await createGroupRig(GROUP);
  const filler = `k=b ${'x'.repeat(995)}\n`;
  const count = Math.ceil(MAX_GROUP_BYTES / filler.length) + 50;
  const text = `k=a first\n${filler.replace('k=b', 'k=c').repeat(3)}${[...Array(count).keys()].map((n) => filler.replace('k=b', `k=${n % 500}`)).join('')}k=a last\n`;
  const { events, mostBytes } = read(rig, Buffer.from(text), START, [1 << 16]);
  expect(events.map(({ message }) => message).filter((message) => message.startsWith('k=a'))).toEqual([
    'k=a first',
    'k=a last',
  ]);
  expect(mostBytes).toBeLessThanOrEqual(MAX_GROUP_BYTES + (1 << 16));
  expect(mostBytes).toBeGreaterThan(MAX_GROUP_BYTES - (1 << 16));
});

test('group begins another event for a line that would bring one over max_event_bytes, or over its lines', async () => {
  const long = `k=a ${'x'.repeat(500)}`;
  expect(await eventsOf([long, long, 'k=b', long], `max_event_bytes: 1KiB\n${GROUP}`)).toEqual([
    [long, long],
    ['k=b'],
    [long],
  ]);
  const many = Array<string>(MAX_JOINED_LINES + 1).fill('k=a');
  expect((await eventsOf(many)).map((lines) => lines.length)).toEqual([MAX_JOINED_LINES, 1]);
});

test('group ends all events at a line over the limit, which comes in its place', async () => {
  const tooLong = `k=a ${'x'.repeat(2000)}`;
  const events = await eventsOf(['k=a 1', 'k=b 1', tooLong, 'k=a 2'], `max_event_bytes: 1KiB\n${GROUP}`);
  expect(events.map(([first]) => first!.slice(0, 10))).toEqual(['k=a 1', 'k=b 1', tooLong.slice(0, 10), 'k=a 2']);
});
