/**
 * Throughput of the kernel alone, in GB of input a second: wrapping text lines, passing JSON lines through strictly
 * validated with one field added, and the same on harder lines. Input is made from a fixed seed and stays in memory.
 * Run by `scripts/node bench/kernel.ts [--json] [--seconds 2]`; prints a table or one JSON object.
 */
import { parseArgs } from 'node:util';
import type { EventShape } from '../src/core/block.ts';
import { createKernel } from '../src/kernel/kernel.ts';

const BLOCK_BYTES = 256 * 1024;
const BLOCKS = 16;
const SLOT_BYTES = 4 * 1024 * 1024;

const { values } = parseArgs({
  options: { json: { type: 'boolean', default: false }, seconds: { type: 'string', default: '1' } },
});

/** A small generator (mulberry32), so that every run has the same lines. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const random = generator(1);
const pick = <T>(items: readonly T[]): T => items[random(items.length)]!;
const hex = (length: number) => Array.from({ length }, () => random(16).toString(16)).join('');
const path = () =>
  pick(['/api/v1/users', '/api/v1/orders', '/healthz', '/static/app.js', '/login']) + `/${random(100_000)}`;
const words = (count: number) =>
  Array.from({ length: count }, () =>
    pick(['user', 'request', 'from', 'cache', 'timeout', 'retry', 'connection', 'closed', 'to', 'database']),
  ).join(' ');
const greek = (count: number) =>
  Array.from({ length: count }, () => pick(['χρήστης', 'αίτημα', 'σύνδεση', 'βάση', 'έκλεισε'])).join(' ');

const text = () =>
  `2026-11-21T10:${10 + random(50)}:${10 + random(50)}.${100 + random(900)}Z INFO worker-${random(16)} request ${hex(16)} ${words(8 + random(8))} path=${path()} took ${random(5000)}ms`;
const nginx = () =>
  `10.0.${random(256)}.${random(256)} - - [21/Nov/2026:10:15:${10 + random(50)} +0000] "GET ${path()} HTTP/1.1" ${pick([200, 304, 404])} ${random(99_999)} "https://example.com${path()}" "Mozilla/5.0 (X11; Linux x86_64)"`;
const pino = (message: string) =>
  `{"level":30,"time":${1_700_000_000_000 + random(1e9)},"pid":${1000 + random(9000)},"hostname":"web-${random(9)}","reqId":"${hex(12)}","req":{"method":"${pick(['GET', 'POST', 'DELETE'])}","url":"${path()}","remoteAddress":"10.0.${random(256)}.${random(256)}","remotePort":${10_000 + random(50_000)}},"res":{"statusCode":${pick([200, 201, 404, 500])}},"responseTime":${random(100)}.${random(1000)},"msg":"${message}"}`;

const shape = (format: EventShape['format']): EventShape => ({
  format,
  wrapFields: { host: 'web-1.example.com', file: '/var/log/app/app.log' },
  fields: { service: 'app' },
});

const CASES: { name: string; line: () => string; format: EventShape['format'] }[] = [
  { name: 'wrap: text', line: text, format: 'text' },
  { name: 'wrap: text, auto', line: text, format: 'auto' },
  { name: 'wrap: nginx combined, six quotes', line: nginx, format: 'auto' },
  { name: 'wrap: Greek text', line: () => `2026-11-21T10:15:00Z ${greek(12)}`, format: 'auto' },
  { name: 'splice: pino JSON', line: () => pino(words(4 + random(12))), format: 'auto' },
  { name: 'splice: pino JSON, escapes', line: () => pino(`said \\"${words(4)}\\"\\n at ${words(3)}`), format: 'auto' },
  { name: 'splice: pino JSON, Greek', line: () => pino(greek(7)), format: 'auto' },
];

const kernel = createKernel(32 * 1024 * 1024);
const window = kernel.reserve(BLOCK_BYTES);
const slot = kernel.reserve(SLOT_BYTES);

/** Best of the rounds, since another process may share the core; and the mean line. */
function measure({ line, format }: (typeof CASES)[number]): { gbPerSecond: number; lineBytes: number } {
  const blocks: Buffer[] = [];
  let lines = 0;
  for (let i = 0; i < BLOCKS; i++) {
    let block = '';
    while (block.length < BLOCK_BYTES * 0.5) {
      block += `${line()}\n`;
      lines++;
    }
    blocks.push(Buffer.from(block));
  }
  const total = blocks.reduce((sum, block) => sum + block.length, 0);
  const template = kernel.compile(shape(format), undefined);
  const round = () => {
    let spent = 0;
    for (const block of blocks) {
      window.bytes.set(block);
      const from = performance.now();
      const done = kernel.wrap(template, from, window, 0, block.length, slot, 0, SLOT_BYTES - 64, 1e9);
      spent += performance.now() - from;
      if (done.consumed !== block.length) throw new Error('the block did not fit');
    }
    return total / spent / 1e6;
  };
  let best = 0;
  const until = performance.now() + Number(values.seconds) * 1000;
  while (performance.now() < until) best = Math.max(best, round());
  return { gbPerSecond: Number(best.toFixed(2)), lineBytes: Math.round(total / lines) };
}

const results = Object.fromEntries(CASES.map((one) => [one.name, measure(one)]));
if (values.json) process.stdout.write(`${JSON.stringify({ node: process.version, results })}\n`);
else
  for (const [name, { gbPerSecond, lineBytes }] of Object.entries(results))
    process.stdout.write(`${name.padEnd(36)} ${lineBytes} B/line  ${gbPerSecond} GB/s\n`);
