/**
 * An application that logs: appends lines to a file at a rate, in writes of odd sizes that end anywhere in a line, and opens
 * the file anew on SIGUSR1, once the current line is finished, as servers do after a rotation. On SIGTERM it finishes the
 * line and ends. Each time it opens the file it prints the number of the first line that goes there.
 *
 * Arguments: file, lines a second.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { lineOf } from './storm-lines.ts';

const TICK_MS = 5;
/** Primes, so that no multiple of them is a line's or a buffer's length. */
const CHUNK_BYTES = [4093, 127, 16_381, 1, 1021, 32_749, 7];

const [path, rateText] = process.argv.slice(2) as [string, string];
const rate = Number(rateText);
const startedMs = performance.now();
let fd = openSync(path, 'a', 0o644);
let seq = 0;
let chunk = 0;
/** Bytes of whole lines that are not written yet. */
let pending = '';

function say(what: object): void {
  writeSync(1, `${JSON.stringify(what)}\n`);
}

function write(bytes: string): void {
  for (let buffer = Buffer.from(bytes); buffer.length > 0;) buffer = buffer.subarray(writeSync(fd, buffer));
}

/** Writes the lines that are due; the rest of the last chunk waits for the next time. */
function tick(): void {
  const due = Math.floor(((performance.now() - startedMs) / 1000) * rate);
  while (seq < due) pending += `${lineOf(seq++)}\n`;
  for (
    let size = CHUNK_BYTES[chunk % CHUNK_BYTES.length]!;
    pending.length >= size;
    size = CHUNK_BYTES[++chunk % CHUNK_BYTES.length]!
  ) {
    write(pending.slice(0, size));
    pending = pending.slice(size);
  }
}

function finishLine(): void {
  write(pending);
  pending = '';
}

process.on('SIGUSR1', () => {
  finishLine();
  closeSync(fd);
  fd = openSync(path, 'a', 0o644);
  say({ openedAt: seq });
});
process.on('SIGTERM', () => {
  finishLine();
  say({ endedAt: seq });
  process.exit(0);
});
say({ openedAt: 0 });
setInterval(tick, TICK_MS);
