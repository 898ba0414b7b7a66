import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { fromDescriptor, fromPipe, fromReadable } from '../../src/sources/stdin/stdin-input.ts';
import type { ByteInput } from '../../src/sources/stdin/stdin-input.ts';

const folder = mkdtempSync(join(tmpdir(), 'tailrace-input-'));
const content = Buffer.from(Array.from({ length: 50_000 }, (_, n) => `line ${n}\n`).join(''));
const file = join(folder, 'content');
writeFileSync(file, content);

function openFifo(): ByteInput {
  const fifo = join(folder, 'fifo');
  spawnSync('mkfifo', [fifo]);
  spawn('sh', ['-c', 'cat "$0" > "$1"', file, fifo]);
  return fromPipe(openSync(fifo, 'r'));
}

test.each([
  ['a stream', () => fromReadable(Readable.from([content.subarray(0, 300_000), content.subarray(300_000)]))],
  ['a file', () => fromDescriptor(openSync(file, 'r'))],
  ['a pipe', openFifo],
])('input from %s gives every byte to a reader with less room than a chunk', async (_name, open) => {
  const input = open();
  const parts: Buffer[] = [];
  for (;;) {
    const into = Buffer.alloc(7001);
    const count = await input.read(into);
    if (count === 0) break;
    parts.push(into.subarray(0, count));
  }
  expect(Buffer.concat(parts).equals(content)).toBe(true);
  expect(await input.read(Buffer.alloc(10))).toBe(0);
  input.close();
});
