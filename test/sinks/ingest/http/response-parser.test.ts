import { createServer } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_RESPONSE_HEAD_BYTES } from '../../../../src/sinks/ingest/limits.ts';
import { ResponseParser, type ResponseHeaders } from '../../../../src/sinks/ingest/http/response-parser.ts';
import { listen } from '../../../support/free-port.ts';

const http = process.getBuiltinModule('node:http');

interface Read {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: string;
  readonly keepAlive: boolean;
}

/** What comes of a response that arrives in these pieces and is followed by the connection's end, or the error. */
function read(pieces: readonly Buffer[], isEnded = true): Read | string {
  let [status, headers, keepAlive, isComplete]: [number, ResponseHeaders, boolean, boolean] = [0, {}, false, false];
  const parts: Buffer[] = [];
  const parser = new ResponseParser({
    head: (...given) => ([status, headers] = given),
    data: (part) => parts.push(Buffer.from(part)),
    complete: (given) => ([keepAlive, isComplete] = [given, true]),
  });
  try {
    for (const piece of pieces) parser.push(piece);
    if (isEnded) parser.end();
  } catch (error) {
    return (error as Error).message;
  }
  return isComplete ? { status, headers, body: Buffer.concat(parts).toString('latin1'), keepAlive } : 'incomplete';
}

const whole = (text: string) => read([Buffer.from(text, 'latin1')]);
const OK = 'HTTP/1.1 200 OK\r\n';

test.each<[string, string, Partial<Read>]>([
  ['a length', `${OK}Content-Length: 3\r\n\r\nabc`, { status: 200, body: 'abc', keepAlive: true }],
  ['no body by its length', `${OK}Content-Length: 0\r\n\r\n`, { body: '', keepAlive: true }],
  ['the same length twice', `${OK}Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc`, { body: 'abc' }],
  ['no reason', 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n', { status: 200 }],
  [
    'a reason with bytes that are no ASCII',
    'HTTP/1.1 404 Nicht gefünden\r\nContent-Length: 0\r\n\r\n',
    { status: 404 },
  ],
  [
    'chunks',
    `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n`,
    { body: 'abc0123456789', keepAlive: true },
  ],
  [
    'chunks and a trailer',
    `${OK}transfer-encoding: Chunked\r\n\r\n1\r\na\r\n0\r\nX-Sum: 1\r\n\r\n`,
    { body: 'a', keepAlive: true },
  ],
  [
    'more chunks than a head may be long',
    `${OK}Transfer-Encoding: chunked\r\n\r\n${'1\r\na\r\n'.repeat(MAX_RESPONSE_HEAD_BYTES)}0\r\n\r\n`,
    { body: 'a'.repeat(MAX_RESPONSE_HEAD_BYTES) },
  ],
  ['a body up to the end of the connection', `${OK}\r\nabc`, { body: 'abc', keepAlive: false }],
  ['no content', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, body: '', keepAlive: true }],
  [
    'an interim response before',
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${OK}Content-Length: 1\r\n\r\na`,
    { status: 200, body: 'a' },
  ],
  ['a connection that is to be closed', `${OK}Connection: Close\r\nContent-Length: 0\r\n\r\n`, { keepAlive: false }],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n', { keepAlive: false }],
  [
    'HTTP/1.0 that is kept',
    'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n',
    { keepAlive: true },
  ],
  [
    'a header twice',
    `${OK}A: 1\r\na:2\r\nContent-Length: 0\r\n\r\n`,
    { headers: { a: ['1', '2'], 'content-length': '0' } },
  ],
  ['a header called __proto__', `${OK}__proto__: 1\r\nContent-Length: 0\r\n\r\n`, { status: 200 }],
])('response parser reads %s, in one piece and byte by byte', (_name, text, wanted) => {
  const bytes = Buffer.from(text, 'latin1');
  const found = whole(text);
  expect(found).toMatchObject({
    ...wanted,
    ...(wanted.headers && { headers: expect.objectContaining(wanted.headers) }),
  });
  expect(read([...bytes].map((byte) => Buffer.of(byte)))).toEqual(found);
});

test.each<[string, string, RegExp]>([
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', /not HTTP\/1\.1: it begins with "SSH-2\.0/],
  ['HTTP/2', 'HTTP/2 200\r\n\r\n', /not HTTP\/1\.1/],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n', /not HTTP\/1\.1/],
  ['a carriage return in the status line', `HTTP/1.1 200 OK\rContent-Length: 0\r\n\r\n{}`, /not HTTP\/1\.1/],
  ['a status below 100', 'HTTP/1.1 099 OK\r\n\r\n', /not HTTP\/1\.1/],
  ['an empty line first', `\r\n${OK}\r\n`, /begins with/],
  ['lines that end in LF alone', 'HTTP/1.1 200 OK\nContent-Length: 0\n\n', /CR LF/],
  ['a header without a colon', `${OK}nothing\r\n\r\n`, /malformed: "nothing"/],
  ['a space before the colon', `${OK}Content-Length : 0\r\n\r\n`, /malformed/],
  ['a folded header', `${OK}A: 1\r\n b\r\n\r\n`, /malformed/],
  ['a NUL in a header', `${OK}A: \0\r\n\r\n`, /malformed/],
  ['two lengths', `${OK}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`, /not one number/],
  ['a length that is no number', `${OK}Content-Length: +3\r\n\r\nabc`, /not one number/],
  ['a length that is too large', `${OK}Content-Length: 99999999999999999999\r\n\r\n`, /not one number/],
  ['a length and chunks', `${OK}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, /does not read/],
  ['a length behind white space that HTTP does not know', `${OK}Content-Length:\xa03\r\n\r\nabc`, /not one number/],
  ['chunks behind a vertical tab', `${OK}Transfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n`, /does not read/],
  ['a coding without a name', `${OK}Transfer-Encoding: \r\nContent-Length: 3\r\n\r\nabc`, /does not read/],
  ['another coding', `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n`, /gzip, chunked/],
  ['a chunk without a size', `${OK}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`, /size of a chunk/],
  ['a chunk of a huge size', `${OK}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n`, /size of a chunk/],
  [
    'a chunk longer than it says',
    `${OK}Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n`,
    /longer than it says/,
  ],
  ['a trailer that is no header', `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n\0\0\r\n0\r\n\r\n`, /malformed/],
  ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\n\r\n', /101/],
  [
    'more than one response',
    `${OK}Content-Length: 0\r\n\r\n${OK}Content-Length: 0\r\n\r\n`,
    /more than it was asked for/,
  ],
  ['a body that ends early', `${OK}Content-Length: 4\r\n\r\nabc`, /in the middle/],
  ['chunks that end early', `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`, /in the middle/],
  ['a head that ends early', OK, /in the middle/],
  ['a head that is too long', `${OK}A: ${'a'.repeat(MAX_RESPONSE_HEAD_BYTES)}`, /longer than/],
  [
    'interim responses without end',
    'HTTP/1.1 100 Continue\r\n\r\n'.repeat(MAX_RESPONSE_HEAD_BYTES / 20),
    /longer than/,
  ],
  [
    'a trailer that is too long',
    `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n${'A: b\r\n'.repeat(MAX_RESPONSE_HEAD_BYTES)}`,
    /longer than/,
  ],
])('response parser refuses %s, in one piece and byte by byte', (_name, text, why) => {
  expect(whole(text)).toMatch(why);
  expect(read([...Buffer.from(text, 'latin1')].map((byte) => Buffer.of(byte)))).toMatch(why);
});

test('response parser does not take what follows nothing for a response', () => {
  expect(read([])).toBe('incomplete');
});

const token = fc.stringMatching(/^[a-z][a-z-]{0,8}$/);
const value = fc.stringMatching(/^[ -~]{0,20}$/);
const body = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
const framing = fc.oneof(
  body.map((text) => `Content-Length: ${text.length}\r\n\r\n${text}`),
  fc
    .array(
      body.filter((text) => text.length > 0),
      { maxLength: 4 },
    )
    .map((chunks) => {
      const all = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');
      return `Transfer-Encoding: chunked\r\n\r\n${all}0\r\n\r\n`;
    }),
  body.map((text) => `Connection: close\r\n\r\n${text}`),
);
const response = fc
  .tuple(
    fc.constantFrom(200, 207, 304, 400, 413, 429, 503),
    fc.array(fc.tuple(token, value), { maxLength: 3 }),
    framing,
  )
  .map(
    ([status, headers, rest]) =>
      `HTTP/1.1 ${status} So\r\n${headers.map(([name, text]) => `x-${name}: ${text}\r\n`).join('')}${rest}`,
  );
/** Changes that make most responses wrong, some in a way that is easily overlooked. */
const damage = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  put: fc.constantFrom('', '\r\n', '\n', ' ', ':', '0', 'f', '\0', '7'),
});

test('response parser answers what Node’s client answers, and refuses the rest', async () => {
  let text = '';
  const server = createServer((socket) => socket.on('error', () => {}).once('data', () => socket.end(text, 'latin1')));
  const port = await listen(server);
  const peer = (): Promise<{ status: number; body: string } | undefined> =>
    new Promise((resolve) => {
      const request = http.get({ host: '127.0.0.1', port, agent: false, insecureHTTPParser: false }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('error', () => resolve(undefined));
        answer.on('end', () => resolve({ status: answer.statusCode!, body: Buffer.concat(parts).toString('latin1') }));
      });
      request.on('upgrade', () => resolve(undefined));
      request.on('error', () => resolve(undefined));
    });
  let both = 0;
  await fc.assert(
    fc.asyncProperty(response, fc.option(damage), async (sound, change) => {
      const at = change ? Math.floor(change.at * sound.length) : 0;
      text = change ? sound.slice(0, at) + change.put + sound.slice(at + 1) : sound;
      const ours = whole(text);
      const theirs = await peer();
      if (typeof ours !== 'string') {
        both += 1;
        expect({ status: ours.status, body: ours.body }).toEqual(theirs);
      } else if (!change && !/more than it was asked for/.test(ours)) expect(theirs).toBeUndefined();
    }),
    { numRuns: 2000, seed: Number(process.env['TAILRACE_FUZZ_SEED'] ?? 20_260_101) },
  );
  expect(both).toBeGreaterThan(300);
});
