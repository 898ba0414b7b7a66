/** Objects built like others before them: compared instead of parsed, and held to the grammar all the same. `drive` compares each with the oracle. */
import { expect, test } from 'vitest';
import { MAX_TEMPLATE_BYTES } from '../../src/kernel/limits.ts';
import { createKernel } from '../../src/kernel/kernel.ts';
import { drive } from './drive.ts';
import { BAD_VALUES, GOOD_VALUES } from './lines.ts';
import { words } from '../support/words.ts';

const shape = { format: 'auto', wrapFields: { host: 'h' }, fields: { service: 'app' } } as const;
const HOLE = '@';
/** Places of values: after short and long keys, in lists, among spaces, first and last. */
const BASES = [
  ...words`
    {"a":@} {"a":@,"b":1} {"responseTime":1,"responseTime":@,"z":"z"} {"a":{"b":{"c":@}},"d":true} {"a":[@,1],"b":"c"}
    {"a":[[],{},@]}
  `,
  '{"service":@,"a key longer than sixteen bytes":"x","b":[1,"2",null]}',
  '{"a key longer than sixteen bytes":@}',
  '{ "a" : @ , "b" : "c" }',
];
const MORE_VALUES = [
  ...[
    '--1',
    '-',
    '-a',
    '1-',
    '00',
    '-01',
    '1.2.3',
    '1..2',
    '1e5e5',
    '1234567',
    '12345678',
    '123456789012345',
    '1234567890123456',
  ],
  ...[
    '0.1234567',
    '0.12345678',
    '0.123456789012345678',
    '12345678.12345678',
    '1.5e3',
    '12e',
    '12345678e1',
    '1:',
    '1/',
    '1\u0660',
  ],
  ...[
    ...words`truex nullnull falsE """" "a""b" "a":"b" "a","b" "a\" "\u00e9é\\" "0123456789abcdef" "é"`,
    '"\ud800"',
    '',
  ],
];
const VALUES = [...GOOD_VALUES, ...BAD_VALUES, ...MORE_VALUES];

/** The lines one by one, each after so many of the known one that it stays known. */
function amidst(known: Buffer, lines: readonly Buffer[]): Buffer[] {
  return lines.flatMap((line) => [known, known, known, known, known, line]);
}

test.each(BASES)('each value is held to the grammar where objects like %s came before', (base) => {
  for (const known of ['1', '-1', '1.5', '"x"', 'null', '{}', '[ ]']) {
    const learnt = Buffer.from(base.replace(HOLE, known));
    const lines = VALUES.map((value) => Buffer.from(base.replace(HOLE, value)));
    // Another field each time, so that nothing else is learnt yet.
    drive(amidst(learnt, lines), { shape: { ...shape, fields: { service: 'app', [known]: 1 } } });
  }
});

test.each(BASES)('a fault at each byte is found where objects like %s came before', (base) => {
  const learnt = Buffer.from(base.replace(HOLE, '"x"'));
  const lines: Buffer[] = [];
  for (let at = 0; at < learnt.length; at += 1)
    for (const byte of [0x00, 0x20, 0x22, 0x2c, 0x31, 0x3a, 0x5c, 0x5d, 0x7b, 0x7d, 0xc3, 0xff]) {
      const [changed, cut] = [Buffer.from(learnt), Buffer.concat([learnt.subarray(0, at), learnt.subarray(at + 1)])];
      changed[at] = byte;
      lines.push(changed, cut);
    }
  drive(amidst(learnt, lines), { shape });
});

test('more shapes than are kept, and lists of every length, pass through all the same', () => {
  const lines = Array.from({ length: 600 }, (_, n) => [
    `{"a":${n},"key ${n % 400}":"x","b":[${Array.from({ length: n % 40 }, () => '1').join()}]}`,
    `{"a":${n},"b":"always so"}`,
    `{${Array.from({ length: n % 300 }, (_value, i) => `"${i}":${i}`).join()}}`,
  ]).flat();
  const events = drive(
    lines.map((line) => Buffer.from(line)),
    { shape: { ...shape, fields: { _time: 1 } }, steps: [{ lines: 99, at: 0, limit: 900_000, maxEvents: 1_000_000 }] },
  );
  expect(
    events
      .toString()
      .split('\n')
      .filter((event) => event.endsWith(',"_time":1}') || event === '{"_time":1}'),
  ).toHaveLength(lines.length);
});

test('shapes learnt under one template are unknown under another, also where one between them was too long', () => {
  const kernel = createKernel(1024 * 1024);
  const [window, slot] = [kernel.reserve(4096), kernel.reserve(256 * 1024)];
  const first = kernel.compile({ ...shape, fields: { a: 1 } }, undefined);
  const second = kernel.compile({ ...shape, fields: { b: 'x'.repeat(longest()) } }, undefined);
  /** With the mark of a cut line it has no room. */
  function longest(length = MAX_TEMPLATE_BYTES / 2): number {
    try {
      kernel.compile({ ...shape, fields: { b: 'x'.repeat(length) } }, undefined);
      return length;
    } catch {
      return longest(length - 1);
    }
  }
  const wrap = (template: typeof first, line: string, marks?: { readonly truncated: boolean }): string => {
    const end = window.bytes.write(`${line}\n`);
    const { written } = kernel.wrap(template, 0, window, 0, end, slot, 0, slot.bytes.length - 64, 10, marks);
    return slot.bytes.subarray(0, written).toString();
  };
  const line = '{"a":1,"q":2}';
  expect(wrap(first, line)).not.toContain('"b"');
  expect(() => wrap(second, 'cut', { truncated: true })).toThrow('fields');
  wrap(first, line);
  expect(wrap(second, line)).toContain('"b":"xxx');
});
