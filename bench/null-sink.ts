/**
 * The null sink: an HTTP server of its own process that takes ingest requests, throws the bodies away and answers with a
 * valid result. It must cost so little that it never is what limits a run, so it reads raw sockets into one reused
 * buffer, knows only Content-Length bodies, and takes the number of events from the request's `X-Event-Count`; a request
 * without it has its newlines counted (decompressed first where it is compressed).
 *
 * `--verify text|json` is another mode, not for measuring: every body is decompressed, every line parsed and checked.
 * Started by sink.ts, which asks for the counts over the process's channel.
 */
import { Socket, createServer } from 'node:net';
import type { OnReadOpts } from 'node:net';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { ADDED_FIELD, lineChecksum } from './checksum.ts';
import type { InputKind } from './inputs.ts';

/** What the sink has seen so far. */
export interface SinkCounts {
  requests: number;
  events: number;
  bodyBytes: number;
  /** Requests that brought no `X-Event-Count`. */
  uncounted: number;
  /** Wall clock of the last answer, milliseconds. */
  lastAnswerMs: number;
  /** Verify mode: sum of the events' checksums, and events that are not what they should be. */
  checksum: number;
  wrong: number;
  /** CPU of this process since its listening began, seconds. */
  cpuSeconds: number;
}

/** Measured: 64 KiB costs 0.25 CPU-s a GiB, 256 KiB 0.27, 1 MiB 0.5 (it falls out of the cache). */
const READ_BYTES = 1 << 16;
const MAX_HEAD_BYTES = 64 * 1024;
const NEWLINE = 10;
const HEAD_END = Buffer.from('\r\n\r\n');

export const counts: SinkCounts = {
  requests: 0,
  events: 0,
  bodyBytes: 0,
  uncounted: 0,
  lastAnswerMs: 0,
  checksum: 0,
  wrong: 0,
  cpuSeconds: 0,
};

/** The newlines in `bytes`. */
function countNewlines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}

interface Request {
  readonly length: number;
  readonly events: number | undefined;
  readonly encoding: string;
  readonly expectsContinue: boolean;
  /** What peers send beside lines: pairs of lines of the bulk API, and logs of OTLP in JSON. */
  readonly form: 'lines' | 'bulk' | 'otlp' | 'hello';
}

function parseHead(head: string): Request {
  const value = (name: string) => new RegExp(`\r\n${name}:[ \t]*([^\r]*)`, 'i').exec(head)?.[1];
  const events = value('x-event-count');
  return {
    length: Number(value('content-length') ?? (/\r\ntransfer-encoding:/i.test(head) ? NaN : 0)),
    events: events === undefined ? undefined : Number(events),
    encoding: value('content-encoding') ?? 'identity',
    expectsContinue: /\r\nexpect:[ \t]*100-continue/i.test(head),
    form: /^\S+ \S*_bulk/.test(head)
      ? 'bulk'
      : /^\S+ \/v1\/logs/.test(head)
        ? 'otlp'
        : head.startsWith('GET ')
          ? 'hello'
          : 'lines',
  };
}

function decompress(body: Buffer, encoding: string): Buffer {
  if (encoding === 'gzip') return gunzipSync(body);
  if (encoding === 'zstd') return zstdDecompressSync(body);
  return body;
}

/** Parses every event, adds its checksum and answers how many there are. */
function verify(body: Buffer, kind: InputKind): number {
  const lines = body.toString().split('\n');
  if (lines.pop() !== '') counts.wrong++;
  for (const line of lines) {
    let event: Record<string, unknown>;
    try {
      event = JSON.parse(line) as Record<string, unknown>;
    } catch {
      counts.wrong++;
      continue;
    }
    const whole =
      kind === 'text'
        ? ['_time', 'message', 'host', 'file'].every((key) => typeof event[key] === 'string')
        : event['env'] === ADDED_FIELD.env;
    if (!whole) counts.wrong++;
    counts.checksum += lineChecksum(event, kind);
  }
  return lines.length;
}

function replyOf({ form, length }: Request, events: number): string {
  if (form === 'hello')
    return '{"version":{"number":"8.12.1","build_flavor":"default"},"tagline":"You Know, for Search","license":{"status":"active","type":"basic"}}';
  if (form === 'otlp') return '{}';
  if (form === 'bulk')
    return `{"took":1,"errors":false,"items":[${Array.from({ length: events }, () => '{"create":{"status":201}}').join(',')}]}`;
  return `{"ingested":${events},"failed":0,"failures":[],"processedBytes":${length},"blocksCreated":1,"walLength":0}`;
}

/** Each log record of the Collector has one. */
const countRecords = (body: Buffer): number => body.toString('latin1').split('"observedTimeUnixNano"').length - 1;

function answer(socket: Socket, request: Request, events: number): void {
  counts.requests++;
  counts.events += events;
  counts.bodyBytes += request.length;
  counts.lastAnswerMs = Date.now();
  const body = replyOf(request, events);
  socket.write(
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Elastic-Product: Elasticsearch\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
}

/** Serves one connection: calls the returned function with each piece that arrives (reused by the caller afterwards). */
export function serveConnection(socket: Socket, verifyKind: InputKind | undefined): (piece: Buffer) => void {
  let head = Buffer.alloc(0);
  let request: Request | undefined;
  let missing = 0;
  let newlines = 0;
  let kept: Buffer[] = [];

  const finish = (done: Request) => {
    let events = done.events ?? (done.form === 'bulk' ? newlines / 2 : newlines);
    if (done.events === undefined && done.length > 0) counts.uncounted++;
    if (kept.length > 0) {
      const plain = decompress(Buffer.concat(kept), done.encoding);
      const found =
        done.form === 'otlp'
          ? countRecords(plain)
          : verifyKind === undefined
            ? countNewlines(plain)
            : verify(plain, verifyKind);
      if (done.events !== undefined && done.events !== found) counts.wrong++;
      events = found;
    }
    kept = [];
    newlines = 0;
    request = undefined;
    answer(socket, done, events);
  };

  return (piece) => {
    let at = 0;
    while (at < piece.length) {
      if (request === undefined) {
        head = Buffer.concat([head, piece.subarray(at)]);
        const end = head.indexOf(HEAD_END);
        if (end === -1) {
          if (head.length > MAX_HEAD_BYTES) socket.destroy();
          return;
        }
        at = piece.length - (head.length - end - HEAD_END.length);
        request = parseHead(head.toString('latin1', 0, end));
        head = Buffer.alloc(0);
        if (!Number.isInteger(request.length)) {
          socket.end('HTTP/1.1 411 Length Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
          return;
        }
        if (request.expectsContinue) socket.write('HTTP/1.1 100 Continue\r\n\r\n');
        missing = request.length;
        if (missing === 0) finish(request);
        continue;
      }
      const body = piece.subarray(at, at + missing);
      if (
        verifyKind !== undefined ||
        request.form === 'otlp' ||
        (request.events === undefined && request.encoding !== 'identity')
      )
        kept.push(Buffer.from(body));
      else if (request.events === undefined) newlines += countNewlines(body);
      at += body.length;
      missing -= body.length;
      if (missing === 0) finish(request);
    }
  };
}

/** Listens on a free loopback port and answers the channel's questions until it closes. */
function main(verifyKind: InputKind | undefined): void {
  const server = createServer({ pauseOnConnect: true }, (accepted) => {
    // A server's sockets cannot be given a buffer to read into, so the connection moves to a socket that can: less than half the CPU.
    const handle = (accepted as unknown as { _handle: unknown })._handle;
    (accepted as unknown as { _handle: unknown })._handle = null;
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    const onread: OnReadOpts = {
      buffer,
      callback: (length) => {
        take(buffer.subarray(0, length));
        return true;
      },
    };
    const socket = new Socket({ handle, onread } as unknown as ConstructorParameters<typeof Socket>[0]);
    const take = serveConnection(socket, verifyKind);
    socket.on('error', () => socket.destroy());
    socket.on('end', () => socket.destroy());
    socket.resume();
    socket.read(0);
  });
  server.listen(0, '127.0.0.1', () => {
    const started = process.cpuUsage();
    process.on('message', () => {
      const used = process.cpuUsage(started);
      counts.cpuSeconds = (used.user + used.system) / 1e6;
      process.send!(counts);
    });
    process.on('disconnect', () => process.exit(0));
    process.send!({ port: (server.address() as { port: number }).port });
  });
}

if (import.meta.main) main(process.argv[2] === '--verify' ? (process.argv[3] as InputKind) : undefined);
