/**
 * The least that any agent built from these parts can cost: a reading loop, the kernel and its connections, and nothing around them. No
 * checkpoints, no checksums, no accounting, no retries. Takes the agent's command line, so that the same pass measures it.
 */
import { openSync, readSync } from 'node:fs';
import { loadConfig } from '../src/config/load/load.ts';
import type { Region } from '../src/core/block.ts';
import { KERNEL_SLACK_BYTES } from '../src/core/limits.ts';
import { READ_CHUNK_BYTES } from '../src/sources/framing/limits.ts';
import { createKernel } from '../src/kernel/kernel.ts';
import { ConnectionPool } from '../src/sinks/ingest/http/connections.ts';
import type { IngestSinkConfig } from '../src/sinks/ingest/ingest-config.ts';

const SLOTS = 8;

const config = loadConfig(process.argv.at(-1)!, process.env);
const [source, sink] = [
  config.sources[0]!,
  config.sinks.find((each): each is IngestSinkConfig => each.type === 'ingest')!,
];
if (source.type !== 'file') throw new Error('bare reads files only');
const file = source.include[0]!;
const { maxBytes, maxEvents } = sink.batch;

const kernel = createKernel(2 ** 26);
const window = kernel.reserve(2 * READ_CHUNK_BYTES);
const free: Region[] = Array.from({ length: SLOTS }, () => kernel.reserve(maxBytes + KERNEL_SLACK_BYTES));
const template = kernel.compile(
  { format: 'auto', wrapFields: { host: 'bench', file }, fields: source.fields },
  sink.timestampField,
);
const connections = new ConnectionPool({
  origin: new URL(sink.url).origin,
  connections: sink.concurrency,
  connectTimeoutMs: 10_000,
  idleMs: 10_000,
  maxIdleMs: 10_000,
  secureContext: undefined,
});
const sending = new Set<Promise<void>>();

function send(slot: Region, bytes: number): Promise<void> {
  const headers = { 'content-type': 'application/x-ndjson', 'idempotency-key': 'bare' };
  const request = {
    origin: sink.url,
    method: 'POST',
    path: `/v1/ingest/${sink.dataset}`,
    headers,
    body: slot.bytes.subarray(0, bytes),
  } as const;
  return new Promise((resolve, reject) =>
    connections.dispatch(request, {
      onRequestStart() {},
      onResponseStart() {},
      onResponseData() {},
      onResponseEnd() {
        free.push(slot);
        resolve();
      },
      onResponseError: (_controller, error) => reject(error),
    }),
  );
}

function ship(slot: Region, bytes: number): void {
  const request = send(slot, bytes).finally(() => sending.delete(request));
  sending.add(request);
}

const descriptor = openSync(file, 'r');
let slot = free.pop()!;
let [position, kept, written, events] = [0, 0, 0, 0];
for (;;) {
  const count = readSync(descriptor, window.bytes, kept, READ_CHUNK_BYTES, position);
  if (count === 0) break;
  position += count;
  const end = window.bytes.lastIndexOf(10, kept + count - 1) + 1;
  for (let start = 0; start < end;) {
    const step = kernel.wrap(template, Date.now(), window, start, end, slot, written, maxBytes, maxEvents - events);
    start += step.consumed;
    written += step.written;
    events += step.events;
    if (step.stop === 'input') continue;
    ship(slot, written);
    while (free.length === 0) await Promise.race(sending);
    slot = free.pop()!;
    written = events = 0;
  }
  kept = kept + count - end;
  window.bytes.copyWithin(0, end, end + kept);
}
ship(slot, written);
await Promise.all(sending);
await connections.close();
