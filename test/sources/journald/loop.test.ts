/** The kernel's loop over entries, held against the same in JavaScript (entry.ts). */
import { describe, expect, test } from 'vitest';
import { createKernel, type Kernel } from '../../../src/kernel/kernel.ts';
import type { JournalOptions, JournalWish } from '../../../src/kernel/journal.ts';
import { eventOf, readEntry } from '../../../src/sources/journald/entry.ts';
import { type EntryFields, exportEntry, FIRST_US } from '../../support/journal.ts';
import { randomFrom } from '../../support/random.ts';

const SEQUENCE = 'a'.repeat(32);
const NOW_MS = Number(FIRST_US / 1000n);
const FORM = { allFields: false, parseJson: false, maxEventBytes: 2000, fields: {} };

const entryOf = (number: number, fields: EntryFields, sequence = SEQUENCE): Buffer => {
  const time = FIRST_US + BigInt(number);
  const cursor = `s=${sequence};i=${number.toString(16)};b=${'b'.repeat(32)};m=1;t=${time.toString(16)};x=1`;
  return exportEntry({ __CURSOR: cursor, __REALTIME_TIMESTAMP: String(time), ...fields });
};

interface Read {
  readonly events: string[];
  readonly positions: readonly number[];
  readonly slow: Buffer[];
  readonly stop: string;
  readonly left: number;
}

/** Reads the bytes as a source does, a call at a time, until it must wait. */
function readAll(
  kernel: Kernel,
  bytes: Buffer,
  options: Partial<JournalOptions> = {},
  wish: Partial<JournalWish> = {},
  outputBytes = 64 * 1024,
): Read {
  const input = kernel.reserve(bytes.length + 64);
  const output = kernel.reserve(outputBytes);
  bytes.copy(input.bytes);
  const loop = kernel.journal({ longest: FORM.maxEventBytes, slow: 'none', ...options }, (size) =>
    kernel.reserve(size),
  );
  const events: string[] = [];
  const slow: Buffer[] = [];
  const positions: number[] = [];
  for (let at = 0; ;) {
    loop.ends.length = loop.positions.length = 0;
    const all = { sequence: SEQUENCE, from: 0, before: Infinity, readAtMs: NOW_MS, ...wish };
    const result = loop.read(all, input, at, bytes.length, output, 0);
    expect(loop.ends.at(-1) ?? 0).toBe(result.written);
    loop.ends.forEach((end, n) => events.push(output.bytes.toString('utf8', loop.ends[n - 1] ?? 0, end)));
    positions.push(...loop.positions);
    at = result.at;
    if (result.stop === 'slow') slow.push(Buffer.from(input.bytes.subarray(result.lastFrom, result.lastTo)));
    else if (result.stop !== 'output') return { events, slow, positions, stop: result.stop, left: bytes.length - at };
  }
}

const inJavaScript = (entry: Buffer): string => `${eventOf(readEntry(entry), FORM, NOW_MS, 60_000).json}\n`;

const rare: Readonly<Record<string, EntryFields>> = {
  'of every common field': {
    _SOURCE_REALTIME_TIMESTAMP: String(FIRST_US - 5n),
    MESSAGE: 'started',
    _HOSTNAME: 'web-1',
    SYSLOG_IDENTIFIER: 'nginx',
    _COMM: 'nginx-worker',
    SYSLOG_PID: '12',
    _PID: '13',
    PRIORITY: '3',
    SYSLOG_FACILITY: '10',
    _SYSTEMD_UNIT: 'nginx.service',
    CODE_FILE: 'a.c',
  },
  'without a program name or syslog pid': { MESSAGE: 'x', _COMM: 'cat', _PID: '7' },
  'of several lines': { MESSAGE: Buffer.from('one\n\ttwo\u0000\u001b[1m "three"\\\n') },
  'of bytes that are no UTF-8': {
    MESSAGE: Buffer.from([0x61, 0xff, 0xc3, 0x28, 0xe2, 0x82, 0x0a]),
    _HOSTNAME: Buffer.from([0xfe, 0x0a]),
  },
  'with an empty message': { MESSAGE: '' },
  'with numbers that are none': { MESSAGE: 'x', PRIORITY: '8', SYSLOG_FACILITY: '24' },
  'with words for numbers': { MESSAGE: 'x', PRIORITY: 'x', SYSLOG_FACILITY: '' },
  'whose own time is before 2000': { MESSAGE: 'x', _SOURCE_REALTIME_TIMESTAMP: '0900000000000000' },
  'whose own time is two days ahead': { MESSAGE: 'x', _SOURCE_REALTIME_TIMESTAMP: String(FIRST_US + 172_800_000_000n) },
  'with no time at all': { MESSAGE: 'x', __REALTIME_TIMESTAMP: '12' },
  'with UTF-8 of every length': { MESSAGE: 'é€😀'.repeat(50) },
};

describe('loop over entries agrees with JavaScript on an entry', () => {
  test.each(Object.entries(rare))('%s', (_, fields) => {
    const entry = entryOf(5, fields);
    const { events, positions, slow, left } = readAll(createKernel(4 * 1024 * 1024), entry);
    expect([slow.length, left]).toEqual([0, 0]);
    expect(events).toEqual([inJavaScript(entry)]);
    expect(JSON.parse(events[0]!)).toBeTypeOf('object');
    expect(positions).toEqual([6]);
  });
});

test('loop over entries agrees with JavaScript on random entries, read in one piece and in pieces of any size', () => {
  const seed = Number(process.env['TAILRACE_SEED'] ?? 1);
  const random = randomFrom(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const bytes = (most: number): Buffer =>
    Buffer.from(
      Array.from({ length: Math.floor(random() * most) }, () =>
        pick([0, 9, 10, 13, 34, 61, 92, 97, 98, 0x7f, 0xc3, 0xa9, 0xe2, 0xff]),
      ),
    );
  const names = [
    '_HOSTNAME',
    'SYSLOG_IDENTIFIER',
    '_COMM',
    'SYSLOG_PID',
    '_PID',
    'PRIORITY',
    'SYSLOG_FACILITY',
    '_SYSTEMD_UNIT',
    'ODD',
    '_COMX',
  ];
  const entries = Array.from({ length: 3000 }, (_, n) => {
    const fields: Record<string, string | Buffer> = {};
    for (const name of names)
      if (random() < 0.5) fields[name] = pick([bytes(20), 'web', String(Math.floor(random() * 30))]);
    if (random() < 0.95) fields['MESSAGE'] = pick([bytes(100), 'a message of some length', bytes(900)]);
    return entryOf(n, fields);
  });
  const all = Buffer.concat(entries);
  const kernel = createKernel(16 * 1024 * 1024);
  const { events, slow, positions } = readAll(kernel, all);
  const made = new Set(positions);
  expect(events, `seed ${seed}`).toEqual(entries.filter((_, n) => made.has(n + 1)).map(inJavaScript));
  expect(slow.length + events.length).toBe(entries.length);
  expect(slow.length).toBeLessThan(entries.length / 4);
  for (let cut = 0; cut < all.length && cut < 4000; cut += 1 + Math.floor(random() * 40)) {
    const whole = readAll(createKernel(1024 * 1024), all.subarray(0, cut));
    expect([whole.stop, cut - whole.left]).toEqual(['input', endsOf(entries).findLast((end) => end <= cut) ?? 0]);
  }
});

const endsOf = (entries: readonly Buffer[]): number[] => {
  let end = 0;
  return entries.map(({ length }) => (end += length));
};

describe('loop over entries leaves to JavaScript', () => {
  test.each<[string, EntryFields, Partial<JournalOptions>]>([
    ['a field that an entry has twice', { MESSAGE: ['a', 'b'] }, {}],
    ['an entry without a message', { PRIORITY: '1' }, {}],
    ['a message that is too long', { MESSAGE: 'x'.repeat(2001) }, {}],
    ['a message that is too long once it is repaired', { MESSAGE: Buffer.alloc(1999, 0xff) }, {}],
    ['a host of many bytes', { MESSAGE: 'x', _HOSTNAME: 'x'.repeat(4097) }, {}],
    ['a message that may be an object', { MESSAGE: ' {"a":1}' }, { slow: 'objects' }],
    ['any entry where all fields are wanted', { MESSAGE: 'x' }, { slow: 'all' }],
    ['an entry of the own unit', { MESSAGE: 'x', _SYSTEMD_UNIT: 'a.service' }, { unit: 'a.service' }],
  ])('%s', (_, fields, options) => {
    const [before, entry, after] = [
      entryOf(1, { MESSAGE: 'before' }),
      entryOf(2, fields),
      entryOf(3, { MESSAGE: 'after' }),
    ];
    const { slow, positions } = readAll(createKernel(4 * 1024 * 1024), Buffer.concat([before, entry, after]), options);
    if (options.slow !== 'all') expect([slow, positions]).toEqual([[entry], [2, 4]]);
    else expect(slow).toEqual([before, entry, after]);
  });
});

test('loop over entries passes over those of other numbers', () => {
  const entries = [1, 2, 3, 4, 5].map((n) => entryOf(n, { MESSAGE: 'x', _SYSTEMD_UNIT: 'a.service2' }));
  const kernel = createKernel(4 * 1024 * 1024);
  const { positions, stop, left } = readAll(
    kernel,
    Buffer.concat(entries),
    { unit: 'a.service' },
    { from: 2, before: 5 },
  );
  expect([positions, stop, left]).toEqual([[3, 4, 5], 'end', entries[4]!.length]);
  expect(readAll(kernel, Buffer.concat(entries), {}, { from: Infinity })).toMatchObject({
    positions: [],
    stop: 'input',
    left: 0,
  });
});

test('loop over entries stops before another sequence', () => {
  const other = entryOf(9, { MESSAGE: 'x' }, 'c'.repeat(32));
  const bytes = Buffer.concat([entryOf(1, { MESSAGE: 'x' }), other, entryOf(2, { MESSAGE: 'x' })]);
  expect(readAll(createKernel(4 * 1024 * 1024), bytes)).toMatchObject({ positions: [2], stop: 'sequence' });
});

test('loop over entries reports malformed entries', () => {
  const kernel = createKernel(4 * 1024 * 1024);
  const good = entryOf(1, { MESSAGE: 'x' });
  const broken = Buffer.concat([Buffer.from('__CURSOR=s=x\n'), exportEntry({ MESSAGE: 'x' })]);
  const lengthless = Buffer.concat([
    good.subarray(0, -1),
    Buffer.from('NAME\n'),
    Buffer.alloc(8),
    Buffer.from('x\n\n'),
  ]);
  for (const garbage of [Buffer.from('-- No entries --\n'), broken, lengthless])
    expect(readAll(kernel, Buffer.concat([good, garbage]))).toMatchObject({
      positions: [2],
      stop: 'garbage',
      left: garbage.length,
    });
});

test('loop over entries fills its output and its table, and goes on', () => {
  const entries = Array.from({ length: 5000 }, (_, n) => entryOf(n, { MESSAGE: 'a message of some length' }));
  const kernel = createKernel(16 * 1024 * 1024);
  expect(readAll(kernel, Buffer.concat(entries), {}, {}, 8 * 1024).events).toEqual(entries.map(inJavaScript));
  expect(readAll(kernel, Buffer.concat(entries), {}, {}, 4 * 1024 * 1024).positions).toHaveLength(5000);
});
