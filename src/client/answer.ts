/** Reads an answer: its body as it was before a proxy compressed it, its message, its headers, the reply of the ingest endpoint. Pure. */
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { messageOf } from '../core/errors.ts';
import type { NamedFailure } from '../core/sink.ts';

const QUOTED_CHARACTERS = 200;

/** `HTTP 404` and the answer's message, on one line. */
export function describeAnswer(status: number, body: string): string {
  const text = messageIn(body).replaceAll(/\s+/g, ' ').trim();
  return `HTTP ${status}${text ? ` ${shorten(text, QUOTED_CHARACTERS)}` : ''}`;
}

/** The first characters, with an ellipsis where there are more. */
export const shorten = (text: string, characters: number): string =>
  text.length > characters ? `${text.slice(0, characters)}…` : text;

/** The `message` of a JSON error body, else the title or the words of the body. */
function messageIn(body: string): string {
  const parsed = parseJson(body);
  if (parsed === undefined) return pageText(body);
  const message = parsed?.['message'];
  return typeof message === 'string' ? message : '';
}

/** Undefined for invalid JSON; a number, text or list has none of the names that an object has. */
export function parseJson(text: string): Readonly<Record<string, unknown>> | null | undefined {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>> | null;
  } catch {
    return undefined;
  }
}

/** The Date header is rounded to a second, and was written a moment ago. */
const SAME_TIME_MS = 2000;

/** The wait that Retry-After (seconds or an HTTP date) or X-RateLimit-Reset (epoch seconds) asks for, in ms; the longer of both. */
export function askedDelayMs(headers: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const servedMs = dateMs(headers['date']) ?? nowMs;
  // The times are the service's: a clock here that is wrong must not make a wait of them.
  const sinceMs = Math.abs(servedMs - nowMs) > SAME_TIME_MS ? servedMs : nowMs;
  const delays = [retryAfterMs(headers['retry-after'], sinceMs), rateLimitResetMs(headers, sinceMs)].filter(
    (delay) => delay !== undefined,
  );
  return delays.length === 0 ? undefined : Math.max(...delays);
}

function retryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = dateMs(text);
  return date === undefined ? undefined : Math.max(0, date - nowMs);
}

/** An HTTP date, in milliseconds since 1970; undefined for anything else. */
function dateMs(text = ''): number | undefined {
  // Date.parse takes "-5" and "in 3" for dates, too.
  if (!/^(mon|tue|wed|thu|fri|sat|sun)/i.test(text)) return undefined;
  // The oldest of the three forms names no zone: GMT is meant, not this machine's.
  const date = Date.parse(/^[a-z]{3} [a-z]{3} [ \d]?\d \d\d:\d\d:\d\d \d{4}$/i.test(text) ? `${text} GMT` : text);
  return Number.isNaN(date) ? undefined : date;
}

function rateLimitResetMs(headers: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const value = headers['x-ratelimit-reset'];
  if (value === undefined || !/^\d+$/.test(value.trim())) return undefined;
  return Math.max(0, Number(value) * 1000 - nowMs);
}

/** Headers with names in lower case, each with one value. */
export function flattenHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  return flat;
}

/** Characters of an answer to look at: its title is at its beginning. */
const MAX_CHARACTERS = 64 * 1024;
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&#39;', "'"],
  ['&nbsp;', ' '],
]);
/** Characters that a terminal may obey, that turn the direction of text, or that replace bytes that are no text. */
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffd]/g;
/** An answer with a larger share of these is no text. */
const MAX_UNPRINTABLE_SHARE = 0.1;

/** The title of an HTML page, else its words outside of tags; other text as it is. Without characters that cannot be printed. */
function pageText(answer: string): string {
  const text = answer.slice(0, MAX_CHARACTERS);
  const unprintable = text.match(UNPRINTABLE)?.filter((character) => !/\s/.test(character)).length ?? 0;
  if (unprintable > text.length * MAX_UNPRINTABLE_SHARE) return '(the answer is no text)';
  const words = text.trimStart().startsWith('<') ? titleOf(text) || wordsOf(text) : text;
  return words.replaceAll(UNPRINTABLE, ' ');
}

function titleOf(page: string): string {
  const lower = page.toLowerCase();
  const tag = lower.indexOf('<title');
  const from = tag < 0 ? -1 : lower.indexOf('>', tag);
  if (from < 0) return '';
  const to = lower.indexOf('<', from);
  return decode(page.slice(from + 1, to < 0 ? undefined : to)).trim();
}

/** The text between the tags, without scripts and styles. */
function wordsOf(page: string): string {
  const lower = page.toLowerCase();
  let words = '';
  for (let at = 0; at < page.length;) {
    const open = page.indexOf('<', at);
    words += ` ${page.slice(at, open < 0 ? undefined : open)}`;
    if (open < 0) break;
    const hidden = ['<script', '<style'].find((tag) => lower.startsWith(tag, open));
    const end = hidden ? lower.indexOf(`</${hidden.slice(1)}`, open) : open;
    const close = end < 0 ? -1 : page.indexOf('>', end);
    if (close < 0) break;
    at = close + 1;
  }
  return decode(words).trim();
}

function decode(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => ENTITIES.get(entity) ?? entity);
}

type Unpack = (bytes: Uint8Array, bounds: { maxOutputLength: number }) => Buffer;

const UNPACKERS: ReadonlyMap<string, Unpack> = new Map<string, Unpack>([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflate],
  ['br', brotliDecompressSync],
  ['zstd', zstdDecompressSync],
]);
/** RFC 9110 sets no limit, and no honest answer is packed more often. */
const MAX_CODINGS = 3;
const QUOTED_CODINGS = 40;

/**
 * The answer's bytes as they were before `contentEncoding`, which nobody asked for, or their fault. At most `maxBytes` come out: a few
 * bytes may unpack to gigabytes.
 */
export function unpack(
  bytes: Buffer,
  contentEncoding: string | undefined,
  maxBytes: number,
): { readonly bytes: Buffer } | { readonly problem: string } {
  const codings = (contentEncoding ?? '')
    .split(',', MAX_CODINGS + 1)
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity');
  const named = `content-encoding: ${codings.join(', ').slice(0, QUOTED_CODINGS)}`;
  if (codings.length > MAX_CODINGS) return { problem: `the answer is compressed too often (${named})` };
  let plain = bytes;
  for (const coding of codings.toReversed()) {
    const unpacker = UNPACKERS.get(coding);
    if (!unpacker) return { problem: `the answer is compressed in a way that nobody asked for (${named})` };
    try {
      // Some send an empty body as it is.
      if (plain.length > 0) plain = unpacker(plain, { maxOutputLength: maxBytes });
    } catch (error) {
      return { problem: `the answer is compressed unasked (${named}) and cannot be unpacked: ${messageOf(error)}` };
    }
  }
  return { bytes: plain };
}

/** `deflate` means zlib's format; some services send the bare stream. */
function inflate(bytes: Uint8Array, bounds: { maxOutputLength: number }): Buffer {
  try {
    return inflateSync(bytes, bounds);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') throw error;
    return inflateRawSync(bytes, bounds);
  }
}

const REASON_CHARACTERS = 200;

export interface IngestReply {
  readonly ingested: number;
  readonly failed: number;
  readonly processedBytes: number;
  readonly blocksCreated: number;
  readonly walLength: number;
  /** Some services list only the first ones, and without an index; `failed` is the true count. */
  readonly failures: readonly NamedFailure[];
}

/** The reply's counts, or undefined where it is no valid ingest result. */
export function readIngestResult(body: string): IngestReply | undefined {
  const reply = parseJson(body);
  if (reply === undefined || reply === null) return undefined;
  const count = (name: string): number | undefined => {
    const value = reply[name];
    return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  };
  const ingested = count('ingested');
  const failed = count('failed');
  if (ingested === undefined || failed === undefined) return undefined;
  return {
    ingested,
    failed,
    processedBytes: count('processedBytes') ?? 0,
    blocksCreated: count('blocksCreated') ?? 0,
    walLength: count('walLength') ?? 0,
    failures: parseFailures(reply['failures']),
  };
}

/** The entries of `failures` that can be read; `{timestamp, error}` and, from some services, `index`. */
function parseFailures(value: unknown): NamedFailure[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown): NamedFailure[] => {
    if (typeof entry !== 'object' || entry === null) return [];
    const { index, timestamp, error } = entry as Record<string, unknown>;
    return [
      {
        index: typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : undefined,
        timestamp: typeof timestamp === 'string' ? timestamp : '',
        error: typeof error === 'string' ? shorten(error, REASON_CHARACTERS) : 'no reason given',
      },
    ];
  });
}
