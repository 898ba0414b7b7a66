import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import type { DeadLetter } from '../../src/core/sink.ts';
import { DeadLetters, formatLetter, type Letter, toLetter } from '../../src/state/dead-letters.ts';
import { makeTree, test } from '../support/temp-tree.ts';
import { fillDisk, mountTmpfs } from '../support/tmpfs.ts';

const MiB = 1024 * 1024;

function letterOf(event: string, changes: Partial<Letter['about']> = {}): Letter {
  const about = {
    sink: 'store',
    dataset: 'logs',
    source: 'app',
    file: '/var/log/app.log',
    stream: 's1',
    offset: 7,
    reason: 'no such field',
    kind: 'rejected',
    status: 400,
    time: '2026-11-21T10:00:00.000Z',
  } as const;
  return { about: { ...about, ...changes }, event };
}

const sizeOf = (folder: string): number =>
  readdirSync(folder).reduce((sum, name) => sum + readFileSync(join(folder, name)).length, 0);

test('dead letters are read back as they were put, also by another process', () => {
  const folder = join(makeTree({}), 'dead');
  const letters = new DeadLetters(folder, MiB);
  expect([letters.files(), letters.bytes, letters.read('a'), letters.remove('a')]).toEqual([[], 0, undefined, false]);
  const two = [letterOf('{"a":1}'), letterOf('{"a":2}', { offset: 9, file: '' })];
  letters.put('key-1', two);
  for (const each of [letters, new DeadLetters(folder, MiB)]) {
    expect(each.read('key-1')).toEqual(two);
    expect(each.files()).toEqual([{ id: 'key-1', bytes: sizeOf(folder), writtenMs: expect.any(Number) }]);
    expect(each.bytes).toBe(sizeOf(folder));
  }
  expect([letters.remove('key-1'), letters.remove('key-1'), letters.bytes]).toEqual([true, false, 0]);
});

test('dead letters put again under their id replace the file and count once', ({ folder }) => {
  const letters = new DeadLetters(folder, MiB);
  letters.put('a', [letterOf('{"a":1}'), letterOf('{"a":2}')]);
  letters.put('b', [letterOf('{"b":1}')]);
  letters.put('a', [letterOf('{"a":1}'), letterOf('{"a":2}')]);
  letters.put('a', [letterOf('{"a":3}')]);
  expect(readdirSync(folder).sort()).toEqual(['a.ndjson', 'b.ndjson']);
  expect(letters.read('a')!.map(({ event }) => event)).toEqual(['{"a":3}']);
  expect(letters.bytes).toBe(sizeOf(folder));
});

test('dead letters are listed oldest first', ({ folder }) => {
  const letters = new DeadLetters(folder, MiB);
  for (const [id, seconds] of [
    ['a', 30],
    ['b', 10],
    ['d', 20],
    ['c', 20],
  ] as const) {
    letters.put(id, [letterOf('{}')]);
    utimesSync(join(folder, `${id}.ndjson`), seconds, seconds);
  }
  expect(letters.files().map(({ id }) => id)).toEqual(['b', 'c', 'd', 'a']);
});

test('dead letters over their limit are refused whole, and fit again once some are gone', ({ folder }) => {
  const size = Buffer.byteLength(`${formatLetter('a', letterOf('{"a":1}'))}\n`);
  const letters = new DeadLetters(folder, 2 * size);
  letters.put('a', [letterOf('{"a":1}')]);
  letters.put('b', [letterOf('{"a":1}')]);
  expect(() => letters.put('c', [letterOf('{"a":1}')])).toThrow(
    expect.objectContaining({
      code: 'E_DEAD_LETTERS_FULL',
      message: expect.stringContaining(String(2 * size)),
      fix: expect.stringContaining('dead-letters'),
    }),
  );
  expect([letters.read('c'), letters.bytes]).toEqual([undefined, 2 * size]);
  // Those that are there already may be put again.
  letters.put('b', [letterOf('{"a":2}')]);
  letters.remove('a');
  letters.put('c', [letterOf('{"a":1}')]);
  expect(letters.bytes).toBe(sizeOf(folder));
});

test('dead letters obey limits that are changed', ({ folder }) => {
  const letters = new DeadLetters(folder, 10);
  expect(() => letters.put('a', [letterOf('{"a":1}')])).toThrow('');
  letters.limit(MiB, 'block');
  expect(letters.put('a', [letterOf('{"a":1}')])).toBe('kept');
  letters.limit(10, 'drop_newest');
  expect(letters.put('b', [letterOf('{"a":1}')])).toBe('dropped');
  expect(letters.read('a')).toHaveLength(1);
});

test('dead letters on a full disk are refused, those before stay, and nothing is left behind', () => {
  const disk = mountTmpfs(128);
  const letters = new DeadLetters(disk, MiB);
  const event = (n: number, length: number) => `{"n":${n},"text":"${'x'.repeat(length)}"}`;
  letters.put('a', [letterOf(event(1, 5000))]);
  const free = fillDisk(disk);
  const before = letters.bytes;
  expect(() => letters.put('b', [letterOf(event(2, 20_000))])).toThrow(/ENOSPC/);
  expect(() => letters.put('a', [letterOf(event(3, 20_000))])).toThrow(/ENOSPC/);
  expect([letters.bytes, letters.read('a')!.map(({ event: text }) => text)]).toEqual([before, [event(1, 5000)]]);
  free();
  expect(readdirSync(disk)).toEqual(['a.ndjson']);
  letters.put('b', [letterOf(event(2, 20_000))]);
  expect(letters.read('b')).toHaveLength(1);
});

test.for([
  '{"n":12345678901234567890123,"f":1.10,"e":1E400,"z":-0}',
  String.raw`{"a":"serv\u0069ce","b":"\/","c":"\ud800","d":"\u0000"}`,
  '{"text":",\\"event\\":","o":{"x":1,"event":{"event":2}},"event":",\\"event\\":1"}',
  '{"a":1,"event":{"event":"}"}}',
  '{ "spaced" : [ 1 , 2 ] }',
  '{"a":1,"a":2}',
  '{"line":"a\u2028b\u2029c","bom":"\ufeff","emoji":"😀"}',
  `${'['.repeat(5000)}${']'.repeat(5000)}`,
])('dead letter keeps the exact bytes of its event: %s', (event) => {
  const folder = makeTree({});
  const letters = new DeadLetters(folder, MiB);
  letters.put('a', [letterOf(event), letterOf(event)]);
  expect(letters.read('a')!.map((letter) => letter.event)).toEqual([event, event]);
  // Each line is one JSON object, for other programs.
  for (const line of readFileSync(join(folder, 'a.ndjson'), 'utf8').trimEnd().split('\n')) {
    expect(line.endsWith(`,"event":${event}}`)).toBe(true);
    expect(JSON.parse(line)).toMatchObject({ id: 'a', source: 'app', offset: 7 });
  }
});

test("dead letter keeps the service's answer and its origin, whatever the text, and the event untouched", () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(',"event":', '","event":"', '}\n{', '\\', ',"event":{}}'),
  );
  const event = fc.json({ maxDepth: 3 }).filter((json) => !json.includes('\n'));
  fc.assert(
    fc.property(text, text, text, event, (reason, file, source, json) => {
      const folder = makeTree({});
      const letters = new DeadLetters(folder, MiB);
      const letter = letterOf(json, { reason, file, source });
      letters.put('a', [letter]);
      expect(letters.read('a')).toEqual([letter]);
    }),
    { numRuns: 150 },
  );
});

test('dead letter is made of the event as it was sent, with its place and the time', () => {
  const sent: DeadLetter = {
    sink: 'store',
    dataset: 'logs',
    source: 'app',
    stream: 's1',
    spanOffset: 100,
    spanEnd: 200,
    eventInSpan: 3,
    reason: 'too_large',
    detail: 'HTTP 413',
    status: 413,
    key: 'k',
    event: Buffer.from('xx{"ü":1}xx').subarray(2, 10),
  };
  expect(toLetter(sent, '/a.log', 123, Date.UTC(2026, 0, 2))).toEqual({
    about: {
      ...letterOf('').about,
      file: '/a.log',
      offset: 123,
      reason: 'HTTP 413',
      kind: 'too_large',
      status: 413,
      time: '2026-01-02T00:00:00.000Z',
    },
    event: '{"ü":1}',
  });
});

// Symptom: one damaged file of dead letters ended `dead-letters list` and `replay` with a SyntaxError. Fix: an error of its own.
test.for(['{"id":"a","sin', 'garbage', '{}', '[1]', '{"id":"a"},"event":'])(
  'dead letters that are damaged (%s) are an error that names the file',
  (text) => {
    const folder = makeTree({ 'bad.ndjson': `${text}\n` });
    expect(() => new DeadLetters(folder, MiB).read('bad')).toThrow(
      expect.objectContaining({
        code: 'E_DEAD_LETTER_BROKEN',
        message: expect.stringContaining(join(folder, 'bad.ndjson')),
      }),
    );
  },
);

// Symptom: `drop ../x` removed a file outside of the folder. Cause: an id was taken for a path. Fix: only names count.
test.for(['../outside', '/etc/x', 'a/../../outside', '..', '', '\0', 'x'.repeat(5000)])(
  'dead letters of no such id (%j) are not read and not removed',
  (id) => {
    const root = makeTree({ 'outside.ndjson': `${formatLetter('x', letterOf('{}'))}\n`, 'dead/a.ndjson': '' });
    const letters = new DeadLetters(join(root, 'dead'), MiB);
    expect([letters.read(id), letters.remove(id)]).toEqual([undefined, false]);
    expect(existsSync(join(root, 'outside.ndjson'))).toBe(true);
  },
);

// Symptom: the commands called a folder of another user, or a file in its place, a fault of Tailrace itself. Fix: declared errors.
test('dead letters that cannot be listed are a declared error, and a folder among them is skipped', () => {
  const root = makeTree({ occupied: '', 'dead/x.ndjson/inside': '', 'dead/a.ndjson': '' });
  expect(() => new DeadLetters(join(root, 'occupied'), MiB)).toThrow(
    expect.objectContaining({ code: 'E_DATA_DIR', message: expect.stringContaining(join(root, 'occupied')) }),
  );
  const letters = new DeadLetters(join(root, 'dead'), MiB);
  expect(letters.files().map(({ id }) => id)).toEqual(['a']);
  expect(() => letters.remove('x')).toThrow(
    expect.objectContaining({ code: 'E_DATA_DIR', fix: expect.stringContaining('data_dir') }),
  );
});

test('dead letters that a killed process had not finished are not listed, and block nothing', ({ folder }) => {
  writeFileSync(join(folder, 'a.ndjson.tmp'), 'half');
  const letters = new DeadLetters(folder, MiB);
  expect([letters.files(), letters.bytes]).toEqual([[], 0]);
  letters.put('a', [letterOf('{}')]);
  expect(readdirSync(folder)).toEqual(['a.ndjson']);
});
