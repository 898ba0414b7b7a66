import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SplitEvent, Splitter } from '../../src/client/ingest/event-bytes.ts';
import { splitLines } from '../../src/client/ingest/split-lines.ts';
import { splitRecords } from '../../src/client/ingest/split-records.ts';
import { splitValues } from '../../src/client/ingest/split-values.ts';
import { MAX_BATCH_BYTES } from '../../src/core/limits.ts';
import { until } from '../support/until.ts';

function split(splitter: Splitter, pieces: readonly Uint8Array[]): SplitEvent[] {
  const events: SplitEvent[] = [];
  for (const piece of pieces) splitter.push(Buffer.from(piece), (event) => events.push(event));
  splitter.end((event) => events.push(event));
  return events;
}

/** `line text`, or `line ! problem`. */
function shown(splitter: Splitter, text: string): string[] {
  return split(splitter, [Buffer.from(text)]).map(({ line, bytes, problem }) =>
    problem === undefined ? `${line} ${bytes.toString()}` : `${line} ! ${problem}`,
  );
}

/** The bytes cut at random places. */
const pieces = (bytes: Buffer, cuts: readonly number[]): Buffer[] => {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return places.slice(1).map((place, index) => bytes.subarray(places[index], place));
};
const anyCuts = fc.array(fc.nat(), { maxLength: 20 });

test('lines splitter gives every line that is not blank, with its number', () => {
  expect(shown(splitLines(), '{"a":1}\n\n  \t\r\n{"b":2}\r\nno json\n{"c":3}')).toEqual([
    '1 {"a":1}',
    '4 {"b":2}\r',
    '5 no json',
    '6 {"c":3}',
  ]);
  expect(shown(splitLines(), '')).toEqual([]);
  expect(shown(splitLines(), '\n\n')).toEqual([]);
});

test('records splitter keeps line ends within quotes', () => {
  expect(shown(splitRecords(), 'a,b\r\n1,"x\r\ny ""z"" , "\r\n\r\n2,plain\n')).toEqual([
    '1 a,b',
    '2 1,"x\r\ny ""z"" , "',
    '5 2,plain',
  ]);
  expect(shown(splitRecords(), '"a""\nb"\nc')).toEqual(['1 "a""\nb"', '3 c']);
});

test('records splitter opens quotes at the beginning of a value only', () => {
  expect(shown(splitRecords(), 'size,x\n5" disk,a\n6" disk,b\n')).toEqual(['1 size,x', '2 5" disk,a', '3 6" disk,b']);
  expect(shown(splitRecords(';'), 'a;"b\nc"\n1,"2;3\n')).toEqual(['1 a;"b\nc"', '3 1,"2;3']);
  expect(shown(splitRecords('||'), 'a||"b\nc"\n')).toEqual(['1 a||"b\nc"']);
});

test('records splitter names the record whose quotes never close', () => {
  expect(shown(splitRecords(), 'a\n1\n"2\n3\n')).toEqual([
    '1 a',
    '2 1',
    '3 ! the input ends within quotes that were opened in this record',
  ]);
});

test('values splitter gives the elements of an array as they are written', () => {
  expect(shown(splitValues(), '[ {"a":[1,2]},\n{"b":"]},{\\"\\\\"} , 5,"x,y",null\n]\n')).toEqual([
    '1 {"a":[1,2]}',
    '2 {"b":"]},{\\"\\\\"}',
    '2 5',
    '2 "x,y"',
    '2 null\n',
  ]);
});

test('values splitter gives values one after another, and one over many lines', () => {
  expect(shown(splitValues(), '{\n "a": 1\n}{"b":2}\n{"c":3} 7\ntrue\n[8,[9]]')).toEqual([
    '1 {\n "a": 1\n}',
    '3 {"b":2}',
    '4 {"c":3}',
    '4 7',
    '5 true',
    '6 8',
    '6 [9]',
  ]);
});

test('values splitter keeps broken elements apart from sound ones', () => {
  expect(shown(splitValues(), '[{"a":1]},{"b":},nope,}, {"c":3}]')).toEqual([
    '1 {"a":1]',
    '1 }',
    '1 {"b":}',
    '1 nope',
    '1 }',
    '1 {"c":3}',
  ]);
});

test('values splitter says where an input that is cut off began', () => {
  expect(shown(splitValues(), '\n[{"a":1},\n{"b":[')).toEqual([
    '2 {"a":1}',
    '3 ! the input ends within this value',
    '2 ! the input ends within the array that begins here',
  ]);
  expect(shown(splitValues(), '{"a":"x')).toEqual(['1 ! the input ends within this value']);
});

test.each([
  ['lines', splitLines],
  ['records', splitRecords],
  ['values', splitValues],
] as const)('%s splitter finds the same events wherever the stream is cut', (_name, make) => {
  const text = fc.string({
    unit: fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', '\n', '\r', ' ', 'a', '1', 'é'),
    maxLength: 60,
  });
  fc.assert(
    fc.property(text, anyCuts, (given, cuts) => {
      const bytes = Buffer.from(given);
      expect(split(make(), pieces(bytes, cuts))).toEqual(split(make(), [bytes]));
    }),
    { numRuns: 2000 },
  );
});

test('values splitter gives back what JSON was made of', () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue(), { maxLength: 8 }),
      fc.constantFrom(undefined, 2),
      anyCuts,
      (values, space, cuts) => {
        const found = split(splitValues(), pieces(Buffer.from(JSON.stringify(values, undefined, space)), cuts));
        expect(found.map(({ bytes }) => JSON.parse(bytes.toString()) as unknown)).toEqual(
          JSON.parse(JSON.stringify(values)),
        );
      },
    ),
  );
});

test.each([
  ['lines', splitLines, '', '\n', ''],
  ['records', splitRecords, '"', '"\n', ''],
  ['values', splitValues, '["', '",', ']'],
] as const)('%s splitter holds no more of an event than a service would take', (_name, make, before, after, end) => {
  const splitter = make();
  const events: SplitEvent[] = [];
  const piece = Buffer.alloc(1024 * 1024, 'x');
  const take = (event: SplitEvent) => events.push(event);
  splitter.push(Buffer.from(before), take);
  for (let count = 0; count < 12; count++) splitter.push(piece, take);
  splitter.push(Buffer.from(`${after}1${end}`), take);
  splitter.end(take);
  expect(events[0]?.problem).toMatch(
    new RegExp(`has 1258\\d+ bytes, and no service takes more than ${MAX_BATCH_BYTES}`),
  );
  expect(events[0]?.bytes.length).toBe(0);
  expect(events[1]?.bytes.toString()).toBe('1');
});

test('splitter lets go of the bytes of an event that is too long', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const splitter = splitLines();
  const push = (): WeakRef<ArrayBufferLike> => {
    const piece = Buffer.alloc(MAX_BATCH_BYTES, 'x');
    splitter.push(piece, () => undefined);
    return new WeakRef(piece.buffer);
  };
  const [first, second] = [push(), push()];
  await until('the bytes to be collected', () => {
    collect();
    return first.deref() === undefined && second.deref() === undefined;
  });
});
