/**
 * Reads HTTP/1.1 responses from the bytes of one connection, in whatever pieces they come (RFC 9112). Strict: a malformed or ambiguous
 * response is an error and never an answer. Bounded: only the head and the framing are kept, bodies are handed on.
 */
import { MAX_RESPONSE_HEAD_BYTES } from '../limits.ts';

export type ResponseHeaders = Record<string, string | string[]>;

/** Callbacks, in this order and once each except for `data`; none follows `complete` or an error. */
export interface ResponseListener {
  /** Never of an interim response (1xx). */
  head(status: number, headers: ResponseHeaders): void;
  /** A part of the body. Belongs to the connection: to be copied before it returns. */
  data(part: Uint8Array): void;
  /** The response is whole. `keepAlive`: another request may follow on this connection. */
  complete(keepAlive: boolean): void;
}

/** What the next byte belongs to. */
type ParserState = 'head' | 'length' | 'until-close' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailer' | 'done';

const STATUS_LINE = /^HTTP\/1\.([01]) (\d{3})(?: [^\0\r]*)?$/;
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
// oxlint-disable-next-line no-control-regex
const BAD_IN_VALUE = /[\0\r]/;
const CHUNK_SIZE = /^([\dA-Fa-f]{1,13})[ \t]*(?:;.*)?$/;
const LF = 10;

class ResponseError extends Error {
  readonly code = 'E_BAD_RESPONSE';
}

export class ResponseParser {
  readonly #listener: ResponseListener;
  #place: ParserState = 'head';
  /** The lines of the head so far, and the beginning of the next one. */
  #lines: string[] = [];
  #kept = '';
  /** Bytes of body or chunk that are to come. */
  #left = 0;
  /** Of the head, the line before a chunk, or the trailer, so far. */
  #framingBytes = 0;
  #keepAlive = false;

  constructor(listener: ResponseListener) {
    this.#listener = listener;
  }

  /** Nothing of the response has come yet. */
  get isFresh(): boolean {
    return this.#place === 'head' && this.#framingBytes === 0;
  }

  /** Takes the next bytes; throws `ResponseError`. What follows a whole response is an error: nothing was asked for. */
  push(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      switch (this.#place) {
        case 'done':
          throw new ResponseError('the service sent more than it was asked for');
        case 'length':
        case 'chunk':
        case 'until-close':
          at += this.#pass(bytes, at);
          break;
        case 'head':
          at = this.#takeLine(bytes, at, (line) => this.#headLine(line));
          break;
        case 'chunk-size':
          at = this.#takeLine(bytes, at, (line) => this.#chunkSize(line));
          break;
        case 'chunk-end':
          at = this.#takeLine(bytes, at, (line) => {
            if (line !== '') throw new ResponseError('a chunk of the response is longer than it says');
            this.#place = 'chunk-size';
          });
          break;
        case 'trailer':
          at = this.#takeLine(bytes, at, (line) => {
            if (line === '') this.#complete();
            // Its value is not used, but it must be a valid header.
            else headersOf([line]);
          });
      }
    }
  }

  /** The server ended the connection; throws `ResponseError` where the response is incomplete. */
  end(): void {
    if (this.#place === 'until-close') this.#complete();
    else if (this.#place !== 'done' && !this.isFresh)
      throw new ResponseError('the connection was closed in the middle of the response');
  }

  /** Ready for the response to another request. */
  reset(): void {
    this.#place = 'head';
    this.#kept = '';
    this.#lines = [];
    this.#framingBytes = 0;
  }

  #takeLine(bytes: Uint8Array, from: number, use: (line: string) => void): number {
    const newline = bytes.indexOf(LF, from);
    const end = newline === -1 ? bytes.length : newline + 1;
    this.#framingBytes += end - from;
    if (this.#framingBytes > MAX_RESPONSE_HEAD_BYTES)
      throw new ResponseError(`the head of the response is longer than ${MAX_RESPONSE_HEAD_BYTES} bytes`);
    this.#kept += Buffer.from(bytes.buffer, bytes.byteOffset + from, end - from).toString('latin1');
    if (newline === -1) return end;
    const line = this.#kept;
    this.#kept = '';
    if (!line.endsWith('\r\n'))
      throw new ResponseError('the response is not HTTP/1.1: a line of its head does not end in CR LF');
    use(line.slice(0, -2));
    return end;
  }

  #headLine(line: string): void {
    if (line !== '') {
      this.#lines.push(line);
      // Checked at once: a peer of another protocol may never send an empty line.
      if (this.#lines.length === 1) statusOf(line);
      return;
    }
    if (this.#lines.length === 0) throw new ResponseError('the response is not HTTP/1.1: it begins with an empty line');
    const [first, ...rest] = this.#lines;
    this.#lines = [];
    this.#begin(statusOf(first!), headersOf(rest));
  }

  #begin({ status, minor }: { status: number; minor: number }, headers: ResponseHeaders): void {
    if (status === 101) throw new ResponseError('the service switched to another protocol unasked (101)');
    if (status < 200) return;
    const connection = tokensOf(headers['connection']);
    this.#keepAlive = minor === 1 ? !connection.includes('close') : connection.includes('keep-alive');
    this.#framingBytes = 0;
    const isCoded = headers['transfer-encoding'] !== undefined;
    const codings = tokensOf(headers['transfer-encoding']);
    const length = lengthOf(headers['content-length']);
    if (isCoded && (length !== undefined || codings.join() !== 'chunked'))
      throw new ResponseError(
        `the response comes in a way that this agent does not read (transfer-encoding: ${codings.join(', ').slice(0, 50)})`,
      );
    this.#listener.head(status, headers);
    if (status === 204 || status === 304) return this.#complete();
    if (isCoded) this.#place = 'chunk-size';
    else if (length === undefined) this.#place = 'until-close';
    else if (length === 0) this.#complete();
    else {
      this.#place = 'length';
      this.#left = length;
    }
    if (this.#place === 'until-close') this.#keepAlive = false;
  }

  /** Hands on a part of the body; answers how many bytes it took. */
  #pass(bytes: Uint8Array, at: number): number {
    const rest = bytes.length - at;
    const length = this.#place === 'until-close' ? rest : Math.min(this.#left, rest);
    this.#listener.data(bytes.subarray(at, at + length));
    if (this.#place === 'until-close') return length;
    this.#left -= length;
    if (this.#left > 0) return length;
    if (this.#place === 'length') this.#complete();
    else this.#place = 'chunk-end';
    return length;
  }

  #chunkSize(line: string): void {
    const digits = CHUNK_SIZE.exec(line)?.[1];
    if (digits === undefined) throw new ResponseError('the size of a chunk of the response is not a number');
    this.#framingBytes = 0;
    this.#left = Number.parseInt(digits, 16);
    this.#place = this.#left === 0 ? 'trailer' : 'chunk';
  }

  #complete(): void {
    this.#place = 'done';
    this.#listener.complete(this.#keepAlive);
  }
}

function statusOf(line: string): { status: number; minor: number } {
  const [, minor, status] = STATUS_LINE.exec(line) ?? [];
  if (status === undefined || Number(status) < 100)
    throw new ResponseError(`the response is not HTTP/1.1: it begins with ${JSON.stringify(line.slice(0, 40))}`);
  return { status: Number(status), minor: Number(minor) };
}

function headersOf(lines: readonly string[]): ResponseHeaders {
  const headers: ResponseHeaders = Object.create(null) as ResponseHeaders;
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0));
    const value = trimmed(line.slice(colon + 1));
    if (!HEADER_NAME.test(name) || BAD_IN_VALUE.test(value))
      throw new ResponseError(`a header of the response is malformed: ${JSON.stringify(line.slice(0, 40))}`);
    const key = name.toLowerCase();
    const before = headers[key];
    headers[key] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
  }
  return headers;
}

/** Without the white space that HTTP knows: others take what else `trim` removes for a part of the value. */
function trimmed(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isSpace(text[from])) from += 1;
  while (from < to && isSpace(text[to - 1])) to -= 1;
  return text.slice(from, to);
}

function isSpace(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}

function tokensOf(value: string | string[] | undefined): string[] {
  if (value === undefined) return [];
  return String(value)
    .split(',')
    .map((token) => trimmed(token).toLowerCase())
    .filter((token) => token !== '');
}

/** Throws where lengths differ or one is no number: such a response can be read in two ways. */
function lengthOf(value: string | string[] | undefined): number | undefined {
  if (value === undefined) return undefined;
  const lengths = new Set(String(value).split(',').map(trimmed));
  const [length] = lengths;
  if (lengths.size !== 1 || !/^\d{1,15}$/.test(length!))
    throw new ResponseError('the length of the response is not one number');
  return Number(length);
}
