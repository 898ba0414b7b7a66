/**
 * When an event happened: reads the `_time` (or the field that `timestamp-field` names) of an event as nanoseconds since 1970, exactly, or
 * gives the reason why it cannot. Without a format: RFC 3339, ISO 8601, and numbers as Unix s, ms, µs or ns, by magnitude. With
 * one: `unix`, `unixms`, `unixus`, `unixnano`, `rfc3339` or a Go layout.
 */
import { compileLayout, parseLayout } from '../../core/time/go-layout.ts';
import {
  isUnixText,
  MAX_TIME_NS,
  MIN_TIME_NS,
  readIsoTime,
  readUnixInteger,
  readUnixTime,
} from '../../core/time/time-text.ts';
import { JsonText } from '../../json/exact-reader.ts';

/** Nanoseconds since 1970, or the reason why the value is no timestamp. */
export type TimeReader = (value: unknown) => bigint | string;

/** A reader for one request. `format` is the query parameter `timestamp-format`, empty for none. */
export function timeReader(format: string): TimeReader {
  const read = plainReader(format);
  // The lines of one read carry the same time: the last text is remembered.
  let lastText: string | undefined;
  let lastTime: bigint | string = '';
  return (value) => {
    if (typeof value !== 'string') return inRange(read(value), value);
    if (value === lastText) return lastTime;
    lastText = value;
    return (lastTime = inRange(read(value), value));
  };
}

function inRange(time: bigint | string, value: unknown): bigint | string {
  if (typeof time === 'string') return time;
  return time >= MIN_TIME_NS && time <= MAX_TIME_NS ? time : outside(value);
}

function plainReader(format: string): TimeReader {
  switch (format.toLowerCase()) {
    case '':
      return (value) =>
        typeof value === 'string' && !isUnixText(value) ? readIso(value) : readNumber(value, undefined);
    case 'rfc3339':
      return (value) => (typeof value === 'string' ? readIso(value) : unreadable(value, 'an RFC 3339 time'));
    case 'unix':
      return (value) => readNumber(value, 9);
    case 'unixms':
      return (value) => readNumber(value, 6);
    case 'unixus':
      return (value) => readNumber(value, 3);
    case 'unixnano':
    case 'unixns':
      return (value) => readNumber(value, 0);
  }
  const layout = compileLayout(format);
  return (value) => {
    if (typeof value !== 'string' && typeof value !== 'number')
      return unreadable(value, `a time of the format ${show(format)}`);
    const time = parseLayout(layout, String(value));
    return typeof time === 'string'
      ? `${unreadable(value, `a time of the format ${show(format)}`)}: ${time}`
      : toNanos(time);
  };
}

const toNanos = (time: { readonly ms: number; readonly ns: number }): bigint =>
  BigInt(time.ms) * 1_000_000n + BigInt(time.ns);

function unreadable(value: unknown, wanted: string): string {
  return `cannot read ${show(value)} as ${wanted}`;
}

/** Never the inside of an array or object: that may be long, deep, or hold integers that `JSON.stringify` refuses. */
function show(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (value instanceof JsonText) return cut(value.text);
  if (typeof value === 'object' && value !== null) return 'an object';
  return cut(typeof value === 'string' ? JSON.stringify(value) : String(value));
}

const cut = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text);

/** A float's shortest text keeps the number as sent: 1700000000.123456 has no exact double. */
function readNumber(value: unknown, power: 9 | 6 | 3 | 0 | undefined): bigint | string {
  if (typeof value === 'number' && value >= 0 && Number.isSafeInteger(value)) return readUnixInteger(value, power);
  const isCount = typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string';
  const time = isCount ? readUnixTime(String(value), power) : undefined;
  if (time === undefined) return unreadable(value, 'a timestamp');
  return time === 'out of range' ? outside(value) : time;
}

const readIso = (text: string): bigint | string => readIsoTime(text) ?? unreadable(text, 'a timestamp');

const outside = (value: unknown): string => `time ${show(value)} is outside 1900-01-01 … 2262-04-11`;
