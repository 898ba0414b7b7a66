/** NDJSON bodies are decoded in pieces: every line must read as in the body decoded whole. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readCsv, readJson, readNdjson } from '../../src/service/ingest/readers.ts';

const PIECE = 16 * 1024;

const contentsOf = (body: Buffer): unknown[] => {
  const reader = readNdjson(body);
  return Array.from({ length: reader.count }, (_, index) => reader.read(index));
};

test('a body of several pieces reads as its whole text, wherever lines end', () => {
  const filler = fc.constantFrom('x', 'é', '€', '😀', '\\n');
  const line = fc.tuple(
    filler,
    fc.oneof(fc.nat(40), fc.integer({ min: PIECE - 40, max: PIECE + 40 }), fc.nat(2 * PIECE)),
  );
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 8 }),
      fc.constantFrom('\n', '\r\n', '\n\n', '\n \t\n'),
      fc.boolean(),
      (lines, end, closed) => {
        const texts = lines.map(
          ([character, count]) => `"${character.repeat(Math.ceil(count / Buffer.byteLength(character)))}"`,
        );
        const body = Buffer.from(texts.join(end) + (closed ? end : ''));
        expect(contentsOf(body)).toEqual(texts.map((text) => JSON.parse(text) as unknown));
      },
    ),
    { numRuns: 200 },
  );
});

test('invalid UTF-8 at the end of a piece spoils its own line alone', () => {
  const first = Buffer.concat([Buffer.from(`"${'x'.repeat(PIECE - 3)}`), Buffer.from([0xe2, 0x82, 0x22])]);
  const body = Buffer.concat([first, Buffer.from('\n"€"\n')]);
  expect(contentsOf(body)).toEqual([`${'x'.repeat(PIECE - 3)}\ufffd`, '€']);
});

// Symptom: three million empty objects in 9 MB filled the heap of a service with 1 GiB.
test('values of a body are counted before they are made', () => {
  expect(readJson('[{"a":"[,{,"},1,[2,3]]', 7).count).toBe(3);
  for (const text of [
    '[{"a":"[,{,"},1,[2,3]]',
    '[{},{},{},{}]',
    '[[[[[[[[]]]]]]]]',
    '{"a":[1,2,3,4,5,6]}',
    '["\\"",1,2,3,4,5]',
  ])
    expect(() => readJson(text, 3), text).toThrow(expect.objectContaining({ status: 413 }));
  const lines = readNdjson(Buffer.from('{"a":[1,2,3,4,5,6]}\n{"a":1}'), 3);
  expect(() => lines.read(0)).toThrow('more than 3 values in one event');
  expect(lines.read(1)).toEqual({ a: 1 });
  expect(() => readCsv('a,b\n1,2\n3,4', ',', undefined, 5)).toThrow(expect.objectContaining({ status: 413 }));
  expect(readCsv('a,b\n1,2\n3,4', ',', undefined, 6).count).toBe(2);
});
