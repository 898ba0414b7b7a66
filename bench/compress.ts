/**
 * The compressors of bodies beside Node's at their fastest level: GB of body a second of CPU, and what is left of it. The bodies are events made of the
 * bench's own lines, a MiB each; the compressors take turns. Run by `scripts/node bench/compress.ts [--rounds 9]`.
 */
import { parseArgs } from 'node:util';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { gzip } from '../src/kernel/gzip.ts';
import { type InputKind, lineMaker } from './inputs.ts';

const BODY_BYTES = 2 ** 20;
const BODIES = 16;
const SEED = 1;

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' } } });

/** Each returns the bytes that are left of a body. */
const COMPRESSORS: Record<string, (body: Buffer) => number> = {
  'gzip, our own': (body) => gzip(body).reduce((sum, piece) => sum + piece.length, 0),
  'gzip, zlib level 1': (body) => gzipSync(body, { level: 1 }).length,
  'zstd, level 1': (body) => zstdCompressSync(body, { params: { [constants.ZSTD_c_compressionLevel]: 1 } }).length,
};

function makeBodies(kind: InputKind): Buffer[] {
  const next = lineMaker(kind, SEED);
  const event = (line: string) =>
    kind === 'text'
      ? JSON.stringify({ _time: '2026-11-22T10:15:00.000Z', message: line, host: 'bench', file: '/tmp/tailrace-bench/text.log' })
      : `${line.slice(0, -1)},"env":"bench"}`;
  return Array.from({ length: BODIES }, () => {
    const body = Buffer.alloc(BODY_BYTES);
    for (let at = 0; at < BODY_BYTES;) at += body.write(`${event(next())}\n`, at);
    return body;
  });
}

for (const kind of ['text', 'json'] as const) {
  const bodies = makeBodies(kind);
  const rates = new Map<string, number[]>();
  const left = new Map<string, number>();
  for (let round = 0; round < Number(values.rounds); round++)
    for (const [name, compress] of Object.entries(COMPRESSORS)) {
      const before = process.cpuUsage();
      left.set(name, bodies.reduce((sum, body) => sum + compress(body), 0) / (BODIES * BODY_BYTES));
      const { user, system } = process.cpuUsage(before);
      rates.set(name, [...(rates.get(name) ?? []), (BODIES * BODY_BYTES) / (user + system) / 1000]);
    }
  for (const [name, rounds] of rates) {
    const median = rounds.toSorted((a, b) => a - b)[rounds.length >> 1]!;
    process.stdout.write(`${kind} ${name.padEnd(20)} ${median.toFixed(2)} GB/s ${(left.get(name)! * 100).toFixed(1)} %\n`);
  }
}
