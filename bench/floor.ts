/**
 * What compression alone costs: the agent's own compressor, with the agent's own settings, on the events that an input
 * becomes, with no agent around it. No agent can be cheaper, and the figure shows how fast the machine was in this run.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { compress } from '../src/batcher/payload.ts';
import type { Compression } from './agent.ts';
import { ADDED_FIELD } from './checksum.ts';
import type { Input } from './inputs.ts';

const SAMPLE_BYTES = 32 * 2 ** 20;
const BATCH_BYTES = 2 ** 20;

/** CPU-seconds a GiB of input. */
export async function measureCompression(
  input: Input,
  compression: Exclude<Compression, 'none' | 'auto'>,
): Promise<number> {
  const sample = Buffer.alloc(Math.min(SAMPLE_BYTES, input.bytes));
  const descriptor = openSync(input.file, 'r');
  readSync(descriptor, sample, 0, sample.length, 0);
  closeSync(descriptor);
  const lines = sample.toString().split('\n').slice(0, -1);
  const time = new Date().toISOString();
  const added = JSON.stringify(ADDED_FIELD).slice(1);
  const events = lines.map((line) =>
    input.kind === 'text'
      ? `${JSON.stringify({ _time: time, message: line, host: 'bench', file: input.file })}\n`
      : `${line.slice(0, -1)},${added}\n`,
  );
  const body = Buffer.from(events.join(''));
  let seconds = 0;
  for (let at = 0; at < body.length; at += BATCH_BYTES) {
    const before = process.cpuUsage();
    await compress(body.subarray(at, at + BATCH_BYTES), compression);
    const used = process.cpuUsage(before);
    seconds += (used.user + used.system) / 1e6;
  }
  return seconds / (sample.length / 2 ** 30);
}
