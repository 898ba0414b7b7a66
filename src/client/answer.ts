/** Reads an answer's message and its headers. Pure. */
import { pageText } from './page-text.ts';

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
