/** Hostile lines and shapes for the fuzz. A line is bytes without a newline. */
import * as fc from 'fast-check';
import type { EventShape, JsonValue } from '../../src/core/block.ts';
import { LOG_LINES, systemLogLines } from './corpus.ts';
import { eventTimes, timedText, timeValue } from './times.ts';

const SEEDS: readonly Buffer[] = [...LOG_LINES.map((line) => Buffer.from(line)), ...systemLogLines(200)];

/** Bytes and runs that are the edges of some rule. */
// prettier-ignore
const EDGES = [
  '"', '\\', '\\"', '\\\\', '\\u0041', '\\ud83d', '\\ude00', '\\u00', '\\x', '{', '}', '[', ']', ',', ':', ' ', '\t', '\r', '\r\r',
  '0', '-', '1e', '.5', '1.', '01', 'true', 'nul', '\0', '\b', '\f', '\v', '\x1f', '\x7f', '\u0080', 'é', '\u07ff', '\u0800',
  '\ufeff', '\ufffd', '\uffff', '😀', '\u{10ffff}', '"service":1,', '"_time":1,',
].map((text) => Buffer.from(text));
const BAD_UTF8 = (
  '80 bf c0 c1 c080 c1bf c2 df e0 e080 e09fbf e0a0 ed eda080 edbfbf ed9f ee80 ef efbf f0 f08080 f08fbfbf ' +
  'f09f98 f09f f490 f4908080 f48fbf f5 f8888080 ff fe e282 e28228 f0288cbc'
)
  .split(' ')
  .map((hex) => Buffer.from(hex, 'hex'));

const edge = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...EDGES) },
  { weight: 2, arbitrary: fc.constantFrom(...BAD_UTF8) },
);

/** A real line with a few places cut, doubled or overwritten. */
const mutated = fc
  .tuple(
    fc.constantFrom(...SEEDS),
    fc.array(
      fc.record({
        at: fc.nat(400),
        drop: fc.constantFrom(0, 0, 1, 2, 17),
        put: fc.option(edge, { nil: Buffer.alloc(0) }),
      }),
      {
        maxLength: 4,
      },
    ),
  )
  .map(([line, edits]) =>
    edits.reduce((bytes, { at, drop, put }) => spliced(bytes, at % (bytes.length + 1), drop, put), line),
  );

function spliced(bytes: Buffer, at: number, drop: number, put: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + drop)]);
}

const junk = fc
  .array(
    fc.oneof(
      edge,
      fc.constantFrom(Buffer.from('a'), Buffer.from('0123456789abcdef')),
      fc.uint8Array({ maxLength: 3 }),
      fc.uint8Array({ max: 31, maxLength: 9 }),
    ),
    {
      maxLength: 12,
    },
  )
  .map((parts) => Buffer.concat(parts));

const space = fc.constantFrom('', '', '', '', ' ', '\t', '\r', '  ');
/** The same few names again and again, plain and in every disguise. */
// prettier-ignore
const KEYS = [
  'time', 'ts', '@timestamp', 'ti\\u006de', 'time', 't', 'instant', 't',
  'service', 'serv\\u0069ce', 'Service', 'servic', '_time', '\\u005ftime', '_tim\\u0065', 'ts', 'host', 'message', 'a', '', '1', '__proto__',
  'é', '\\u00e9', '\\u00E9', 'e\u0301', '😀', '\\ud83d\\ude00', '\\uD83D\\uDE00', '\\ud83d', '\\ude00\\ud83d', '\\ud800', '\ufffd', '\\ufffd',
  '\\"', '\\\\', '\\/', '/', '\\n', 'a key longer than sixteen bytes', 'a key longer than sixteen byte\\u0073',
];
/** For `fields`: the names that the disguises above spell. */
// prettier-ignore
const NAMES = [
  'service', '_time', 'ts', 'message', 'host', 'a', '', '1', '__proto__', 'é', '😀', '\ud83d', '\ud800', '\ufffd', '"', '\\', '/', '\n',
  'a key longer than sixteen bytes', 'parse_error', 'truncated', 'env', 'region',
];
const key = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...KEYS).map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: edge },
);
// prettier-ignore
export const GOOD_VALUES = [
  '0', '-0', '1', '-1', '12345678901234567', '123456789012345678901234567890123', '1.5', '0.0', '-0.5e-3', '1E+9', '1e400',
  'true', 'false', 'null', '{}', '[]', '{ }', '[ ]', '""', '"x"',
];
// prettier-ignore
export const BAD_VALUES = [
  '01', '-', '1.', '.5', '+1', '1e', '1e+', '0x1', 'tru', 'True', 'NaN', 'nulll', 'undefined', '"', "'a'", '"\\x"', '"\\u12g4"', '"\t"',
  '{a:1}', '[1,]', '{"a":1,}', '{,}', '{"a"}', '[1 2]', '{]', '[}', '[1}', '{"a":1]', '[[]}',
];
/** Mostly valid, so that whole lines often are. */
const scalar = fc
  .oneof(
    { weight: 12, arbitrary: fc.constantFrom(...GOOD_VALUES) },
    { weight: 1, arbitrary: fc.constantFrom(...BAD_VALUES) },
    { weight: 6, arbitrary: fc.string({ unit: 'grapheme', maxLength: 24 }).map((text) => JSON.stringify(text)) },
    { weight: 8, arbitrary: timeValue },
  )
  .map((text) => Buffer.from(text));
const inString = fc
  .array(edge, { maxLength: 3 })
  .map((parts) => Buffer.concat([Buffer.from('"0123456789'), ...parts, Buffer.from('"')]));
const { value } = fc.letrec<{ value: Buffer; object: Buffer; list: Buffer }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    { weight: 5, arbitrary: scalar },
    { weight: 1, arbitrary: inString },
    { weight: 1, arbitrary: tie('object') },
    { weight: 1, arbitrary: tie('list') },
  ),
  object: objectOf(tie('value'), 3),
  list: fc
    .tuple(space, fc.array(tie('value'), { maxLength: 3 }), space)
    .map(([before, items, after]) =>
      Buffer.concat([Buffer.from(`[${before}`), ...between(items), Buffer.from(`${after}]`)]),
    ),
}));

function between(items: readonly Buffer[]): Buffer[] {
  return items.flatMap((item, i) => (i === 0 ? [item] : [Buffer.from(','), item]));
}

function objectOf(member: fc.Arbitrary<Buffer>, maxLength: number): fc.Arbitrary<Buffer> {
  const pair = fc
    .tuple(key, space, space, member, space)
    .map(([name, a, b, item, c]) =>
      Buffer.concat([Buffer.from('"'), name, Buffer.from(`"${a}:${b}`), item, Buffer.from(c)]),
    );
  return fc
    .tuple(space, fc.array(pair, { maxLength }))
    .map(([before, pairs]) => Buffer.concat([Buffer.from(`{${before}`), ...between(pairs), Buffer.from('}')]));
}

const object = fc
  .tuple(space, objectOf(value, 6), space)
  .map(([before, inside, after]) => Buffer.concat([Buffer.from(before), inside, Buffer.from(after)]));

const ending = fc.constantFrom('', '', '', '', '\r', '\r\r');

const line: fc.Arbitrary<Buffer> = fc
  .tuple(
    fc.oneof(
      { weight: 5, arbitrary: mutated },
      { weight: 5, arbitrary: object },
      { weight: 2, arbitrary: junk },
      { weight: 4, arbitrary: timedText },
      { weight: 1, arbitrary: fc.constant(Buffer.alloc(0)) },
    ),
    ending,
  )
  .map(([bytes, end]) =>
    Buffer.concat([bytes, Buffer.from(end)].map((part) => Buffer.from(part.filter((byte) => byte !== 0x0a)))),
  );

/** Keys, with their colon as the group, and values that hold no others. */
const TOKEN = /"(?:[^"\\]|\\.)*"(\s*:)?|-?\d[\d.eE+-]*|true|false|null/g;

function isObject(bytes: Buffer): boolean {
  try {
    return typeof JSON.parse(bytes.toString()) === 'object';
  } catch {
    return false;
  }
}

/** Objects of a few shapes, alike but for their values, and now and then one with a fault or a value of another kind. */
const alike: fc.Arbitrary<Buffer[]> = fc
  .tuple(
    fc.array(fc.oneof(object.filter(isObject), fc.constantFrom(...SEEDS.filter(isObject))), {
      minLength: 1,
      maxLength: 4,
    }),
    fc.array(
      fc.record({
        which: fc.nat(1000),
        values: fc.array(
          fc.record({
            at: fc.nat(30),
            put: fc.oneof({ weight: 4, arbitrary: scalar }, { weight: 1, arbitrary: inString }),
          }),
          {
            maxLength: 3,
          },
        ),
        fault: fc.oneof(
          { weight: 15, arbitrary: fc.constant(undefined) },
          { weight: 1, arbitrary: fc.record({ at: fc.nat(400), drop: fc.constantFrom(0, 1, 1, 2), put: edge }) },
        ),
      }),
      { minLength: 5, maxLength: 100, size: 'max' },
    ),
  )
  .map(([bases, lines]) =>
    lines.map(({ which, values, fault }) => {
      let text = bases[which % bases.length]!.toString('latin1');
      for (const { at, put } of values) {
        const found = [...text.matchAll(TOKEN)].filter((token) => token[1] === undefined);
        const old = found[at % Math.max(1, found.length)];
        if (old) text = text.slice(0, old.index) + put.toString('latin1') + text.slice(old.index + old[0].length);
      }
      const bytes = Buffer.from(text, 'latin1');
      return fault ? spliced(bytes, fault.at % (bytes.length + 1), fault.drop, fault.put) : bytes;
    }),
  )
  .map((lines) => lines.map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 0x0a))));

/** Lines of one program: the same time again and again, or nearly. */
const timed: fc.Arbitrary<Buffer[]> = fc
  .tuple(
    fc.array(timedText, { minLength: 1, maxLength: 3 }),
    fc.array(fc.record({ which: fc.nat(2), at: fc.nat(40), put: fc.nat(127) }), { maxLength: 60 }),
  )
  .map(([bases, edits]) =>
    edits.map(({ which, at, put }) => {
      const bytes = Buffer.from(bases[which % bases.length]!);
      if (at < bytes.length && put !== 0x0a && put % 3 === 0) bytes[at] = put % 2 ? put : 0x30 + (put % 10);
      return bytes;
    }),
  );

export const lines: fc.Arbitrary<Buffer[]> = fc.oneof(
  { weight: 1, arbitrary: timed },
  { weight: 2, arbitrary: fc.array(line, { maxLength: 100, size: 'max' }) },
  { weight: 1, arbitrary: alike },
);

const names = fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 6 });
const fieldValue: fc.Arbitrary<JsonValue> = fc.constantFrom<JsonValue>(
  'app',
  '',
  1,
  -0.5,
  true,
  null,
  [],
  { a: [1, '"'] },
  'größer 😀\n\ud800',
  'x'.repeat(70),
);
const fields = fc
  .tuple(names, fc.array(fieldValue, { minLength: 6, maxLength: 6 }))
  .map(([keys, items]) => Object.fromEntries(keys.map((name, i) => [name, items[i]!])));

export const shape: fc.Arbitrary<EventShape> = fc.record<EventShape, 'format' | 'wrapFields' | 'fields'>(
  {
    format: fc.constantFrom('auto', 'auto', 'json', 'text'),
    wrapFields: fields,
    fields,
    time: eventTimes,
  },
  { requiredKeys: ['format', 'wrapFields', 'fields'] },
);
export const timestampField = fc.constantFrom(undefined, 'ts', 'service', '_time', 'é', '');
