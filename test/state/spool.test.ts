import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { Spool } from '../../src/state/spool/spool.ts';
import { decodeSpoolFile, encodeHead, type SpoolHeader } from '../../src/state/spool/spool-file.ts';
import { MemoryLog } from '../support/memory-log.ts';
import { makeTree, test } from '../support/temp-tree.ts';
import { fillDisk, mountTmpfs } from '../support/tmpfs.ts';
import { recoverAll, span } from './batches.ts';

function headerOf(key: string, changes: Partial<SpoolHeader> = {}): SpoolHeader {
  return {
    key,
    sink: 'store',
    dataset: 'logs',
    events: 2,
    bytes: 20,
    encoding: 'identity',
    spans: [span('s1', 0, 2)],
    ...changes,
  };
}

function open(folder: string): { spool: Spool; log: MemoryLog } {
  const log = new MemoryLog();
  return { spool: new Spool(folder, log), log };
}

const part = fc.record({ first: fc.nat(), count: fc.nat(), key: fc.string() });
const anyHeader: fc.Arbitrary<SpoolHeader> = fc.record(
  {
    key: fc.stringMatching(/^[0-9a-f]{1,32}$/),
    sink: fc.string({ unit: 'binary' }),
    dataset: fc.string({ unit: 'binary' }),
    events: fc.nat(),
    bytes: fc.nat(),
    encoding: fc.constantFrom('gzip' as const, 'zstd' as const, 'identity' as const),
    spans: fc.array(
      fc.record({
        source: fc.string({ unit: 'grapheme' }),
        stream: fc.stringMatching(/^[0-9a-f]{32}$/),
        from: fc.maxSafeNat(),
        to: fc.maxSafeNat(),
        events: fc.nat(),
        sum: fc.maxSafeNat(),
        tail: fc.record({ length: fc.nat({ max: 64 }), crc: fc.nat({ max: 2 ** 32 - 1 }) }),
        digest: fc.string(),
      }),
      { maxLength: 5 },
    ),
    parts: fc.array(part, { maxLength: 4 }),
  },
  { requiredKeys: ['key', 'sink', 'dataset', 'events', 'bytes', 'encoding', 'spans'] },
);

test('spool file says back whatever header and body it was given', () => {
  fc.assert(
    fc.property(anyHeader, fc.uint8Array({ maxLength: 300 }), (header, body) => {
      const content = decodeSpoolFile(Buffer.concat([encodeHead(header, body), body]));
      expect(content).toEqual({ ok: true, header, body: Buffer.from(body) });
    }),
    { numRuns: 500 },
  );
});

test('spool file of any bytes at all is read without a throw', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.string().map((text) => Buffer.from(`TRSPOOL1 ${text}`)),
      ),
      (bytes) => {
        expect(decodeSpoolFile(Buffer.from(bytes)).ok).toBe(false);
      },
    ),
  );
});

test('spool file is recognised at every torn length, with every byte flipped, and with anything behind it', () => {
  const body = Buffer.from('{"n":1}\n{"n":2}\n');
  const whole = Buffer.concat([encodeHead(headerOf('k'), body), body]);
  expect(decodeSpoolFile(whole).ok).toBe(true);
  for (let length = 0; length < whole.length; length++)
    expect(decodeSpoolFile(whole.subarray(0, length)), `cut to ${length}`).toMatchObject({ ok: false });
  for (let at = 0; at < whole.length; at++) {
    for (const flip of [1, 0x20, 0x80, 0xff]) {
      const damaged = Buffer.from(whole);
      damaged[at]! ^= flip;
      expect(decodeSpoolFile(damaged), `byte ${at} ^ ${flip}`).toMatchObject({
        ok: false,
        reason: expect.stringMatching(/./),
      });
    }
  }
  expect(decodeSpoolFile(Buffer.concat([whole, Buffer.from('x')])).ok).toBe(false);
});

test('spool gives back its files after a restart, oldest first, and goes on with higher names', async () => {
  const folder = join(makeTree({}), 'spool');
  const written: { name: string; key: string; body: Buffer }[] = [];
  for (let run = 0; run < 4; run++) {
    const { spool, log } = open(folder);
    const entries = await recoverAll(spool);
    expect(entries.map(({ name, header }) => ({ name, key: header.key }))).toEqual(
      written.map(({ name, key }) => ({ name, key })),
    );
    expect([spool.files, spool.bytes]).toEqual([written.length, entries.reduce((sum, { size }) => sum + size, 0)]);
    for (const { name, body } of written) expect((await spool.read(name)).body.equals(body)).toBe(true);
    for (let i = 0; i < 4; i++) {
      // Keys that sort against their age.
      const key = `${9 - run}${9 - i}${'f'.repeat(30)}`;
      const body = randomBytes(50 + i);
      written.push({ name: await spool.write(headerOf(key), body), key, body });
    }
    // Neither the oldest nor the newest.
    await spool.remove(written.splice(1, 1)[0]!.name);
    expect(readdirSync(folder).sort()).toEqual(written.map(({ name }) => name));
    expect(log.lines).toEqual([]);
  }
});

test.for([
  ['torn', (bytes: Buffer) => bytes.subarray(0, bytes.length - 1)],
  ['flipped', (bytes: Buffer) => Buffer.from(bytes.map((byte, at) => (at === bytes.length - 1 ? byte ^ 1 : byte)))],
  ['empty', () => Buffer.alloc(0)],
] as const)('spool sets a %s file aside alone, says so, and counts it', async ([, damage]) => {
  const folder = makeTree({});
  const first = open(folder).spool;
  const names = [];
  for (const key of ['a', 'b', 'c']) names.push(await first.write(headerOf(key), Buffer.from(`body of ${key}`)));
  const damaged = damage(readFileSync(join(folder, names[1]!)));
  writeFileSync(join(folder, names[1]!), damaged);
  const { spool, log } = open(folder);
  expect((await recoverAll(spool)).map(({ header }) => header.key)).toEqual(['a', 'c']);
  expect([spool.files, spool.brokenFiles]).toEqual([2, 1]);
  expect(log.find('error', 'was set aside')).toHaveLength(1);
  expect(readFileSync(join(folder, 'broken', names[1]!)).equals(damaged)).toBe(true);
  expect(readdirSync(folder).sort()).toEqual([names[0], names[2], 'broken']);
  // Once: the next start has nothing to say.
  const again = open(folder);
  expect(await recoverAll(again.spool)).toHaveLength(2);
  expect([again.log.lines, again.spool.brokenFiles]).toEqual([[], 0]);
});

test('spool removes what a killed process had not finished, and leaves foreign files alone', async () => {
  const folder = makeTree({ '000000000007-abc.batch.tmp': 'half', 'notes.txt': 'mine', 'my.batch': 'mine, too' });
  const { spool, log } = open(folder);
  expect(await recoverAll(spool)).toEqual([]);
  expect(readdirSync(folder).sort()).toEqual(['my.batch', 'notes.txt']);
  expect([spool.bytes, spool.brokenFiles, log.lines]).toEqual([0, 0, []]);
});

// Symptom: with a file like `my.batch` in the folder, every file written after it had the same number, so that their order
// was lost. Cause: its name was read as a number. Fix: only names that the spool gives count.
test('spool numbers its files whatever else is in the folder', async () => {
  const folder = makeTree({ 'my.batch': 'x', 'zzz-1.batch': 'x' });
  const { spool } = open(folder);
  await recoverAll(spool);
  expect([
    await spool.write(headerOf('k1'), Buffer.from('1')),
    await spool.write(headerOf('k2'), Buffer.from('2')),
  ]).toEqual(['000000000001-k1.batch', '000000000002-k2.batch']);
});

// Symptom: a start ended with a bare error of the system. Fix: the rest of an unfinished file blocks nothing, and a folder that cannot be
// listed is a declared error.
test('spool starts beside an unfinished file that cannot be removed, and says which folder cannot be listed', async () => {
  const folder = makeTree({ 'spool/000000000007-abc.batch.tmp/inside': '', occupied: '' });
  const { spool } = open(join(folder, 'spool'));
  expect(await recoverAll(spool)).toEqual([]);
  expect(await spool.write(headerOf('k1'), Buffer.from('1'))).toBe('000000000001-k1.batch');
  await expect(recoverAll(open(join(folder, 'occupied')).spool)).rejects.toMatchObject({
    code: 'E_DATA_DIR',
    message: expect.stringContaining(join(folder, 'occupied')),
  });
});

// Symptom: a start that met a file it could not read ended. Fix: the file waits for the next start.
test('spool starts with the others when one cannot be read, and leaves it where it is', async ({ folder }) => {
  await open(folder).spool.write(headerOf('a'), Buffer.from('a'));
  mkdirSync(join(folder, '000000000009-folder.batch'));
  const { spool, log } = open(folder);
  expect((await recoverAll(spool)).map(({ header }) => header.key)).toEqual(['a']);
  expect(log.find('error', 'cannot be read now')).toHaveLength(1);
  expect(existsSync(join(folder, '000000000009-folder.batch'))).toBe(true);
  // Its number is not given twice.
  expect(await spool.write(headerOf('b'), Buffer.from('b'))).toBe('000000000010-b.batch');
});

test('spool writes a batch again with its parts under the same name', async ({ folder }) => {
  const { spool } = open(folder);
  await spool.write(headerOf('older'), Buffer.from('older'));
  const body = Buffer.from('the body');
  const name = await spool.write(headerOf('k'), body);
  const parts = [
    { first: 1, count: 1, key: 'p1' },
    { first: 2, count: 3, key: 'p2' },
  ];
  await spool.rewrite(name, headerOf('k', { parts }), body);
  const sizes = readdirSync(folder).map((file) => readFileSync(join(folder, file)).length);
  expect([spool.files, spool.bytes]).toEqual([2, sizes[0]! + sizes[1]!]);
  const next = open(folder).spool;
  const entries = await recoverAll(next);
  expect(entries.map((entry) => entry.name)).toEqual(readdirSync(folder).sort());
  expect(entries[1]).toMatchObject({ name, header: headerOf('k', { parts }) });
  expect(await next.read(name)).toEqual({ ok: true, header: headerOf('k', { parts }), body });
});

test('spool sets a file aside that was damaged after it was recovered, and says so to who reads it', async ({
  folder,
}) => {
  const { spool, log } = open(folder);
  const name = await spool.write(headerOf('k'), Buffer.from('a body'));
  writeFileSync(join(folder, name), 'something else');
  await expect(spool.read(name)).rejects.toMatchObject({ code: 'E_SPOOL_BROKEN' });
  expect([spool.files, spool.bytes, spool.brokenFiles]).toEqual([0, 0, 1]);
  expect(readdirSync(join(folder, 'broken'))).toEqual([name]);
  expect(log.find('error', 'was set aside')).toHaveLength(1);
  await spool.remove(name);
  expect(spool.bytes).toBe(0);
});

// Symptom: a spool file that was removed by hand kept a worker busy for ever. Cause: only damage counted as gone for good.
test('spool says that a file is gone for good when someone removed it', async ({ folder }) => {
  const { spool } = open(folder);
  const name = await spool.write(headerOf('k'), Buffer.from('a body'));
  await open(folder).spool.remove(name);
  await expect(spool.read(name)).rejects.toMatchObject({
    code: 'E_SPOOL_BROKEN',
    message: expect.stringContaining(name),
  });
  expect(spool.bytes).toBe(0);
});

test('spool on a full disk throws, leaves nothing behind, still removes, and writes again once there is room', async () => {
  const disk = mountTmpfs(256);
  const folder = join(disk, 'spool');
  const { spool, log } = open(folder);
  const kept = [
    await spool.write(headerOf('a'), randomBytes(60_000)),
    await spool.write(headerOf('b'), randomBytes(60_000)),
  ];
  const free = fillDisk(disk);
  const { bytes } = spool;
  for (let i = 0; i < 3; i++)
    await expect(spool.write(headerOf('c'), randomBytes(40_000))).rejects.toMatchObject({ code: 'ENOSPC' });
  // The older form stays when a batch cannot be written again.
  await expect(
    spool.rewrite(kept[1]!, headerOf('b', { parts: [{ first: 0, count: 1, key: 'p' }] }), randomBytes(60_000)),
  ).rejects.toMatchObject({
    code: 'ENOSPC',
  });
  expect(readdirSync(folder).sort()).toEqual(kept);
  expect([spool.files, spool.bytes]).toEqual([2, bytes]);
  expect((await spool.read(kept[1]!)).header).toEqual(headerOf('b'));
  await spool.remove(kept[0]!);
  const later = await spool.write(headerOf('d'), randomBytes(40_000));
  free();
  const last = await spool.write(headerOf('e'), randomBytes(40_000));
  expect((await recoverAll(open(folder).spool)).map(({ name }) => name)).toEqual([kept[1], later, last]);
  expect(log.lines).toEqual([]);
});
