/**
 * Makes the inputs of the benchmarks from a seed: text log lines of about 180 bytes and pino-like JSON lines of about
 * 310. The same seed and size give the same bytes on every machine. Lines are unlike each other as far as real ones
 * are (times, ids, words, now and then quotes, backslashes and UTF-8), so that compression is neither easy nor hopeless.
 */
import { closeSync, createReadStream, openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { lineChecksum } from './checksum.ts';

export type InputKind = 'text' | 'json';

export interface Input {
  readonly kind: InputKind;
  readonly file: string;
  readonly bytes: number;
  readonly lines: number;
}

const FIRST_TIME_MS = Date.UTC(2026, 0, 1);
const WRITE_BYTES = 1 << 20;
const MAX_LINE_BYTES = 1 << 20;
const NEWLINE = 10;
const LEVELS = ['INFO', 'INFO', 'INFO', 'INFO', 'DEBUG', 'DEBUG', 'WARN', 'ERROR'] as const;
const METHODS = ['GET', 'GET', 'GET', 'POST', 'PUT', 'DELETE'] as const;
const STATUS = [200, 200, 200, 200, 201, 204, 304, 400, 404, 500] as const;
const COMPONENTS = [
  'http.server',
  'orders.checkout',
  'billing.invoice',
  'cache.redis',
  'db.pool',
  'auth.session',
  'mail.queue',
] as const;
const WORDS = (
  'request completed user order payment accepted connection closed retry timeout upstream cache miss hit session token refreshed ' +
  'invoice created queue worker started stopped batch flushed index rebuilt snapshot uploaded region shard leader follower elected ' +
  'replica behind caught up checkpoint written schema migration applied lock acquired released after waiting for slow query plan'
).split(' ');
/** What costs an encoder more than plain ASCII does: one line in ten carries one of these. */
const SPICE = [
  'said "not now"',
  'C:\\temp\\spool',
  'Zürich → Αθήνα',
  'naïve café',
  'tab\there',
  '日本語のログ',
  'path="/a b"',
] as const;

/** A program's messages come from its format strings, a few of which make up most of a log. */
const SENTENCES = 200;

/** A small fast generator of 32-bit numbers (xorshift32): all that is random comes from it. */
function seededRandom(seed: number): (below: number) => number {
  let state = (seed ^ 0x9e3779b9) | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/** Makes the next line each time it is called, without its newline. */
export function lineMaker(kind: InputKind, seed: number): () => string {
  const random = seededRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
  const hex = () => (0x10000000 + random(0xe0000000)).toString(16);
  const sentences = Array.from({ length: SENTENCES }, () =>
    Array.from({ length: 6 + random(6) }, () => pick(WORDS)).join(' '),
  );
  const message = () => {
    const text = sentences[Math.min(random(SENTENCES), random(SENTENCES))]!;
    return random(10) === 0 ? `${text} ${pick(SPICE)}` : text;
  };
  let timeMs = FIRST_TIME_MS;
  let second = '';
  const isoTime = () => {
    const milliseconds = timeMs % 1000;
    // Printing dates is dear: only once for each second of the log.
    if (second === '' || milliseconds < 20) second = new Date(timeMs).toISOString().slice(0, 20);
    return `${second}${milliseconds < 10 ? '00' : milliseconds < 100 ? '0' : ''}${milliseconds}Z`;
  };
  let sequence = 0;
  if (kind === 'text') {
    return () => {
      timeMs += random(20);
      sequence++;
      const request = `${pick(METHODS)} /api/v1/${pick(WORDS)}/${random(100_000)} ${pick(STATUS)} ${random(5000)}ms`;
      return `${isoTime()} ${pick(LEVELS)} [worker-${random(16)}] ${pick(COMPONENTS)} id=${hex()} seq=${sequence} ${request} ${message()}`;
    };
  }
  return () => {
    timeMs += random(20);
    sequence++;
    return JSON.stringify({
      level: 30 + 10 * random(3),
      time: timeMs,
      pid: 4000 + random(16),
      hostname: `web-${random(20)}`,
      name: pick(COMPONENTS),
      reqId: hex(),
      req: { method: pick(METHODS), url: `/api/v1/${pick(WORDS)}/${random(100_000)}` },
      res: { statusCode: pick(STATUS), bytes: random(100_000) },
      responseTime: random(500_000) / 100,
      seq: sequence,
      ok: random(20) !== 0,
      msg: message(),
    });
  };
}

/** Writes at least `bytes` bytes of whole lines to `file`. */
export const writeInput = (kind: InputKind, seed: number, bytes: number, file: string): Input =>
  writeInputOf(kind, lineMaker(kind, seed), bytes, file);

/** The same text, cut into lines of `length` characters: it shrinks as well whatever the length. */
export function writeLines(length: number, bytes: number, file: string): Input {
  const next = lineMaker('text', 1);
  let rest = '';
  const cut = (): string => {
    const parts = [rest];
    for (let have = rest.length; have < length - 1; have += parts.at(-1)!.length) parts.push(next());
    const text = parts.join('');
    rest = text.slice(length - 1);
    return text.slice(0, length - 1);
  };
  return writeInputOf('text', cut, bytes, file);
}

function writeInputOf(kind: InputKind, next: () => string, bytes: number, file: string): Input {
  const descriptor = openSync(file, 'w');
  let written = 0;
  let lines = 0;
  const chunk = Buffer.allocUnsafeSlow(WRITE_BYTES + MAX_LINE_BYTES);
  try {
    while (written < bytes) {
      const goal = Math.min(WRITE_BYTES, bytes - written);
      let filled = 0;
      for (; filled < goal; lines++) {
        filled += chunk.write(next(), filled);
        chunk[filled++] = NEWLINE;
      }
      for (let at = 0; at < filled;) at += writeSync(descriptor, chunk, at, filled - at);
      written += filled;
    }
  } finally {
    closeSync(descriptor);
  }
  return { kind, file, bytes: written, lines };
}

/** The sum over all lines that a verifying sink must reach too (see checksum.ts). */
export async function checksumInput(input: Input): Promise<number> {
  let sum = 0;
  for await (const line of createInterface({ input: createReadStream(input.file), crlfDelay: Infinity })) {
    sum += lineChecksum(
      input.kind === 'text' ? { message: line } : (JSON.parse(line) as Record<string, unknown>),
      input.kind,
    );
  }
  return sum;
}
