/** Reads an answer's message and its headers. Pure. */

const QUOTED_CHARACTERS = 200;

/** `HTTP 404` and the answer's message, on one line. */
export function describeAnswer(status: number, body: string): string {
  const text = messageIn(body).replaceAll(/\s+/g, ' ').trim();
  return `HTTP ${status}${text ? ` ${shorten(text, QUOTED_CHARACTERS)}` : ''}`;
}

/** The first characters, with an ellipsis where there are more. */
export const shorten = (text: string, characters: number): string => (text.length > characters ? `${text.slice(0, characters)}…` : text);

/** The `message` of a JSON error body, else the title or the words of the body. */
function messageIn(body: string): string {
  try {
    const parsed: unknown = JSON.parse(body);
    const message = (parsed as { message?: unknown } | null)?.message;
    return typeof message === 'string' ? message : '';
  } catch {
    return pageText(body);
  }
}

/** The Date header is rounded to a second, and was written a moment ago. */
const SAME_TIME_MS = 2000;

/** The wait that Retry-After (seconds or an HTTP date) or X-RateLimit-Reset (epoch seconds) asks for, in ms; the longer of both. */
export function askedDelayMs(headers: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const servedMs = dateMs(headers['date']) ?? nowMs;
  // The times are the service's: a clock here that is wrong must not make a wait of them.
  const sinceMs = Math.abs(servedMs - nowMs) > SAME_TIME_MS ? servedMs : nowMs;
  const delays = [retryAfterMs(headers['retry-after'], sinceMs), rateLimitResetMs(headers, sinceMs)].filter((delay) => delay !== undefined);
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
export function flattenHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
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
