/** `tailrace buffer verify|export|repair` as a program, on folders that hold anything. */
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, expect, test } from 'vitest';
import { encodeHead, type SpoolHeader } from '../../src/state/spool/spool-file.ts';
import { BINARY, startCommand } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';

let folder: string;
let spool: string;

beforeEach(() => {
  folder = makeTree({});
  spool = join(folder, 'data', 'spool', 'store');
  mkdirSync(spool, { recursive: true });
  writeFileSync(
    join(folder, 'tailrace.yaml'),
    `data_dir: ${folder}/data\nsources: {pipe: {type: stdin}}\nsinks: {store: {type: ingest, url: "http://127.0.0.1:1", dataset: logs}}\n`,
  );
});

function batchOf(body: string, changes: Partial<SpoolHeader> = {}): Buffer {
  const header: SpoolHeader = {
    key: 'k',
    sink: 'store',
    dataset: 'logs',
    events: body.split('\n').length - 1,
    bytes: body.length,
    encoding: 'gzip',
    spans: [],
    ...changes,
  };
  const packed = gzipSync(body);
  return Buffer.concat([encodeHead(header, packed), packed]);
}

const write = (number: number, bytes: Buffer): void =>
  writeFileSync(join(spool, `00000000000${number}-k.batch`), bytes);

async function buffer(...args: string[]): Promise<{ code: number | string; out: string; err: string }> {
  const program = startCommand(BINARY, ['buffer', ...args, '--config', join(folder, 'tailrace.yaml')]);
  return { code: await program.exited, out: program.stdout(), err: program.stderr() };
}

test('buffer verify names each file that is damaged, export writes the events of the others, repair sets them aside', async () => {
  const whole = batchOf('{"n":1}\n{"n":2}\n');
  write(1, whole);
  write(2, whole.subarray(0, -1));
  const flipped = Buffer.from(whole);
  flipped[flipped.length - 5]! ^= 1;
  write(3, flipped);
  write(4, Buffer.alloc(0));
  write(5, batchOf('{"n":3}\n'));
  const verified = await buffer('verify', '--json');
  expect(verified.code).toBe(1);
  const lines = verified.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { ok: boolean; events?: number; reason?: string });
  expect(lines.map(({ ok }) => ok)).toEqual([true, false, false, false, true]);
  expect(lines.map(({ events, reason }) => events ?? reason)).toEqual([
    2,
    expect.stringContaining('bytes instead of'),
    'the checksum of its body is wrong',
    'its first line is not that of a spool file',
    1,
  ]);
  expect(verified.err).toContain('5 files, 3 events, 3 broken\n');
  const exported = await buffer('export');
  expect([exported.code, exported.out]).toEqual([1, '{"n":1}\n{"n":2}\n{"n":3}\n']);
  const repaired = await buffer('repair');
  expect([repaired.code, repaired.err.trim().split('\n').at(-1)]).toEqual([
    0,
    '5 files, 3 events, 3 broken (3 set aside under broken/)',
  ]);
  expect(readdirSync(join(spool, 'broken'))).toHaveLength(3);
  expect(await buffer('verify')).toMatchObject({ code: 0, err: '2 files, 3 events, 0 broken\n' });
});

// Symptom: verify beside a running agent ended with a bare ENOENT, and one file that could not be read kept all others from being checked.
// Cause: only the folder's listing was guarded. Fix: a vanished file is skipped, an unreadable one is named and left where it is.
test('buffer verify goes on behind a file that is gone or cannot be read, and repair leaves that where it is', async () => {
  write(1, batchOf('{"n":1}\n'));
  // Listed, and not there: as a file that the agent removes in between.
  symlinkSync(join(folder, 'gone'), join(spool, '000000000002-k.batch'));
  mkdirSync(join(spool, '000000000003-k.batch'));
  write(4, batchOf('{"n":2}\n'));
  const verified = await buffer('verify');
  expect(verified.code).toBe(1);
  expect(verified.err).toContain('000000000003-k.batch: it cannot be read: EISDIR');
  expect(verified.err).toContain('3 files, 2 events, 1 broken\n');
  expect((await buffer('export')).out).toBe('{"n":1}\n{"n":2}\n');
  expect((await buffer('repair')).code).toBe(1);
  expect(readdirSync(spool)).toContain('000000000003-k.batch');
});

test('buffer verify and export know batches of sinks that are not configured any more', async () => {
  write(1, batchOf('{"n":1}\n'));
  mkdirSync(join(folder, 'data', 'spool', 'former'));
  writeFileSync(
    join(folder, 'data', 'spool', 'former', '000000000001-k.batch'),
    batchOf('{"n":2}\n', { sink: 'former' }),
  );
  expect(await buffer('verify')).toMatchObject({ code: 0, err: '2 files, 2 events, 0 broken\n' });
  expect((await buffer('export')).out).toBe('{"n":1}\n{"n":2}\n');
});

test('buffer verify says which folder cannot be read', async () => {
  writeFileSync(join(folder, 'data', 'spool', 'x'), '');
  writeFileSync(
    join(folder, 'tailrace.yaml'),
    `data_dir: ${folder}/data\nsources: {pipe: {type: stdin}}\nsinks: {x: {type: ingest, url: "http://127.0.0.1:1", dataset: logs}}\n`,
  );
  const { code, err } = await buffer('verify');
  expect(code).toBe(1);
  expect(err).toContain(`tailrace: cannot read the folder "${folder}/data/spool/x": ENOTDIR`);
});
