/**
 * gzip of our own against those who read it. TAILRACE_FUZZ_BODIES sets how many bodies (20,000), TAILRACE_FUZZ_SEED repeats a run.
 */
import { spawnSync } from 'node:child_process';
import { gunzipSync, gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineMaker } from '../../bench/inputs.ts';
import { gzip } from '../../src/kernel/gzip.ts';
import { findProgram } from '../support/installed.ts';
import { body, build } from './bodies.ts';

const wanted = Number(process.env['TAILRACE_FUZZ_BODIES'] ?? 20_000);
const seed = Number(process.env['TAILRACE_FUZZ_SEED'] ?? Date.now() % 1_000_000_000);

/** What is stored as it is: head and trailer of the stream, and five bytes for each 64 KiB or block of its own. */
const mostBytes = (plain: Buffer) => plain.length + 18 + 5 * (1 + 5 * Math.ceil(plain.length / 2 ** 18));

function compressed(plain: Buffer): Buffer {
  const before = Buffer.from(plain);
  const bytes = Buffer.concat(gzip(plain));
  if (!plain.equals(before)) throw new Error('gzip changed its input');
  if (bytes.length > mostBytes(plain)) throw new Error(`${plain.length} bytes became ${bytes.length}`);
  return bytes;
}

function readsBack(plain: Buffer): void {
  if (!gunzipSync(compressed(plain)).equals(plain)) throw new Error('another body came back');
}

const events = (kind: 'text' | 'json', bytes: number) => {
  const next = lineMaker(kind, 7);
  const lines: string[] = [];
  for (let size = 0; size < bytes; size += lines.at(-1)!.length)
    lines.push(`${JSON.stringify({ _time: '2026-11-22T10:00:00.000Z', message: next(), host: 'web-1', file: '/var/log/app.log' })}\n`);
  return Buffer.from(lines.join(''));
};

test(`gzip is read back by zlib for ${wanted} hostile bodies (seed ${seed})`, { timeout: 3_600_000 }, () => {
  fc.assert(fc.property(body, readsBack), { seed, numRuns: wanted });
});

test('gzip is read back at every length around the ends of blocks, segments and stored parts', () => {
  const noise = build([{ kind: 'noise', length: 2 ** 21 + 20, seed: 3 }]);
  const log = events('text', 2 ** 21 + 100);
  for (const middle of [0, 16, 258, 65_535, 2 ** 18, 2 ** 19, 2 ** 20, 2 ** 21])
    for (const plain of [noise, log, Buffer.alloc(2 ** 21 + 20, 'a')])
      for (let length = Math.max(0, middle - 17); length < middle + 18; length += middle < 2 ** 20 ? 1 : 7)
        readsBack(plain.subarray(0, length));
});

test('gzip is read back where codes would be longer than allowed and a byte is more than half of a block', () => {
  const skewed = build([{ kind: 'skewed', length: 2 ** 19, seed: 11 }]);
  const everySecond = build([{ kind: 'noise', length: 2 ** 19, seed: 13 }]).map((byte, i) => (i % 2 === 0 ? 120 : byte));
  for (const plain of [skewed, Buffer.from(everySecond)]) {
    readsBack(plain);
    expect(compressed(plain).length).toBeLessThan(plain.length * 0.7);
  }
});

test('gzip of events is no larger than that of zlib at its fastest', () => {
  for (const kind of ['text', 'json'] as const) {
    const plain = events(kind, 2 ** 20);
    expect(compressed(plain).length, kind).toBeLessThan(gzipSync(plain, { level: 1 }).length);
  }
});

test('gzip of a body does not depend on those before it', () => {
  const plain = events('text', 300_000);
  const first = compressed(plain);
  compressed(events('json', 2 ** 20 + 5));
  compressed(Buffer.alloc(0));
  expect(compressed(plain).equals(first)).toBe(true);
});

const program = findProgram('gzip');
test.skipIf(program === undefined)('gzip is taken by the program of that name (needs: apt-get install -y gzip)', () => {
  const noise = build([{ kind: 'noise', length: 200_000, seed: 5 }]);
  for (const plain of [Buffer.alloc(0), Buffer.from('a'), events('text', 3_000_000), noise, Buffer.alloc(500_000)]) {
    const read = spawnSync(program!, ['-dc'], { input: compressed(plain), maxBuffer: 2 ** 23 });
    expect(read.stderr.toString()).toBe('');
    expect(read.stdout.equals(plain)).toBe(true);
  }
});
