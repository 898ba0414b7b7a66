/**
 * The kernel in plain TypeScript: the oracle of its differential fuzz, and the slow path for a line of any size. Clear
 * rather than fast. Shares nothing with the kernel and its templates, so that a fault in one shows against the other.
 */
import { type EventShape, isJson, type JsonValue, type Marks } from '../core/block.ts';
import { MAX_JSON_DEPTH } from './limits.ts';
import {
  type EventTime,
  formatEventTime,
  leadingTime,
  type TimeContext,
  wholeTextTime,
  wholeTime,
} from '../core/time/own-time.ts';
import { createZone, type Zone } from '../core/time/zone.ts';
import { PAIR_KEY, TEXT_KEY } from './template.ts';
import { trimEndOf } from '../core/text/trim-end.ts';
import { timeText } from '../core/time/clock.ts';

/** Bytes of text that are decoded and escaped at a time: an event may be longer than the longest string. */
const PIECE_BYTES = 1024 * 1024;
/** A longer object is wrapped as text: it would not fit a string. */
const MAX_OBJECT_BYTES = 256 * 1024 * 1024;

export interface LineContext {
  readonly shape: EventShape;
  readonly timestampField: string | undefined;
  /** Wall clock of the read, milliseconds. */
  readonly readAtMs: number;
  /** Added to the event of a line over the limit. */
  readonly marks?: Marks | undefined;
  /** The bytes are lines joined to one event, the last one without its newline. */
  readonly isJoined?: boolean;
  /** Counts events whose time is not taken because it precedes an unknown zone. */
  unknownZones?: number;
}

/** The event of one line (its bytes without the newline), with a newline at its end; undefined for an empty line. */
export function eventOf(line: Uint8Array, context: LineContext): Buffer | undefined {
  if (context.shape.format === 'events') return Buffer.concat([line, Buffer.of(0x0a)]);
  const text = context.isJoined ? joinedText(line) : withoutCr(line);
  if (text.length === 0) return undefined;
  if (context.shape.format === 'text' || context.marks) return wrapped(text, context);
  return passedThrough(text, context) ?? wrapped(text, context);
}

/** How many U+FFFD replace invalid UTF-8 in the line's event; those in the line itself do not count. */
export function countInvalid(line: Uint8Array): number {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const own = Buffer.from('\ufffd');
  const bytes = Buffer.from(line.buffer, line.byteOffset, line.length);
  let count = 0;
  for (let at = bytes.indexOf(own); at !== -1; at = bytes.indexOf(own, at + own.length)) count--;
  for (let at = 0; at < line.length; at += PIECE_BYTES) {
    const text = decoder.decode(line.subarray(at, at + PIECE_BYTES), { stream: at + PIECE_BYTES < line.length });
    for (let found = text.indexOf('\ufffd'); found !== -1; found = text.indexOf('\ufffd', found + 1)) count++;
  }
  return count;
}

function withoutCr(line: Uint8Array): Uint8Array {
  return line.at(-1) === 0x0d ? line.subarray(0, -1) : line;
}

/** Without the CR of each line, and without the empty lines at both ends. */
function joinedText(bytes: Uint8Array): Uint8Array {
  const lines: Uint8Array[] = [];
  for (let at = 0; at <= bytes.length;) {
    const newline = bytes.indexOf(0x0a, at);
    const end = newline < 0 ? bytes.length : newline;
    lines.push(withoutCr(bytes.subarray(at, end)));
    at = end + 1;
  }
  const isFull = (each: Uint8Array): boolean => each.length > 0;
  const kept = lines.slice(Math.max(0, lines.findIndex(isFull)), lines.findLastIndex(isFull) + 1);
  return Buffer.concat(kept.flatMap((each, n) => (n === 0 ? [each] : [Buffer.of(0x0a), each])));
}

function wrapped(line: Uint8Array, context: LineContext): Buffer {
  const { shape, readAtMs, marks } = context;
  const after = new Map<string, JsonValue>();
  if (shape.format === 'json') after.set('parse_error', 'not a JSON object');
  for (const [key, value] of Object.entries(marks ?? {})) after.set(key, value);
  const own = new Set(['_time', 'message', ...after.keys()]);
  for (const [key, value] of [...Object.entries(shape.wrapFields), ...Object.entries(shape.fields)]) {
    if (!own.has(key)) after.set(key, value);
  }
  return Buffer.concat([
    Buffer.from(`{"_time":"${timeOfText(line, context) ?? timeText(readAtMs)}","message":"`),
    ...escaped(line),
    Buffer.from(`"${joined(after)}}\n`),
  ]);
}

/** Characters of a text that are searched for its time. */
const MAX_HEAD_BYTES = 1024 * 1024;
const zones = new Map<string, Zone>();

function timesOf(context: LineContext): (TimeContext & { hasUnknownZone: boolean }) | undefined {
  const { shape, timestampField, readAtMs } = context;
  if (!shape.time || timestampField !== undefined) return undefined;
  const { zone } = shape.time;
  if (!zones.has(zone)) zones.set(zone, createZone(zone));
  const times = {
    zone: zones.get(zone)!,
    readAtMs,
    hasUnknownZone: false,
    unknownZone: () => void (times.hasUnknownZone = true),
  };
  return times;
}

/** The time that a text begins with, where that is asked for. */
function timeOfText(line: Uint8Array, context: LineContext): string | undefined {
  const times = timesOf(context);
  // A part of a line that is not its first begins anywhere.
  if (!times || (context.marks?.['part'] ?? 1) !== 1) return undefined;
  const time = leadingTime(Buffer.from(line.subarray(0, MAX_HEAD_BYTES)).toString('latin1'), times);
  if (!time && times.hasUnknownZone) context.unknownZones = (context.unknownZones ?? 0) + 1;
  return time && formatEventTime(time);
}

/** The first value that is a time. The values are as written in the line. */
function timeOfKeys(values: ReadonlyMap<string, string>, context: LineContext): string | undefined {
  const times = timesOf(context);
  if (!times) return undefined;
  const { keys, messageLeads } = context.shape.time!;
  for (const key of messageLeads ? [...keys, 'message'] : keys) {
    const value = values.get(key);
    const inside = value?.startsWith('"') === true ? value.slice(1, -1) : undefined;
    let time: EventTime | undefined;
    if (key === TEXT_KEY && keys.includes(key)) time = inside === undefined ? undefined : wholeTextTime(inside, times);
    else if (key === PAIR_KEY && keys.includes(key))
      time = value === undefined || inside !== undefined ? undefined : wholeTime(pairOf(value), times);
    else if (keys.includes(key)) time = value === undefined ? undefined : wholeTime(inside ?? value, times);
    else if (inside !== undefined) time = leadingTime(inside, times);
    if (time) return formatEventTime(time);
  }
  if (times.hasUnknownZone) context.unknownZones = (context.unknownZones ?? 0) + 1;
  return undefined;
}

/** Each member with a comma before it. */
function joined(members: Map<string, JsonValue>): string {
  return [...members].map(([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`).join('');
}

/** Text as the inside of a JSON string, in pieces. */
function escaped(line: Uint8Array): Buffer[] {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const pieces: Buffer[] = [];
  for (let at = 0; at < line.length; at += PIECE_BYTES) {
    const text = decoder.decode(line.subarray(at, at + PIECE_BYTES), { stream: at + PIECE_BYTES < line.length });
    pieces.push(Buffer.from(JSON.stringify(text).slice(1, -1)));
  }
  return pieces;
}

/** The line with missing members added, when the whole of it is a JSON object. */
function passedThrough(line: Uint8Array, context: LineContext): Buffer | undefined {
  const { shape, timestampField, readAtMs } = context;
  if (line.length > MAX_OBJECT_BYTES || line.includes(0x0a)) return undefined;
  const text = trimEndOf(new TextDecoder('utf-8', { ignoreBOM: true }).decode(line), ' \t\r').replace(
    /^(?:[ \t\r]+|\ufeff[ \t\r]*)/,
    '',
  );
  if (!text.startsWith('{') || !isJson(text)) return undefined;
  const keys = topLevelKeys(text);
  if (keys === undefined) return undefined;
  const added = new Map(Object.entries(shape.fields).filter(([key]) => !keys.has(key)));
  const hasTime = keys.has('_time') || (timestampField !== undefined && keys.has(timestampField));
  if (!hasTime && !Object.hasOwn(shape.fields, '_time'))
    added.set('_time', timeOfKeys(keys, context) ?? timeText(readAtMs));
  const splice = joined(added);
  return Buffer.from(`${text.slice(0, -1)}${keys.size === 0 ? splice.slice(1) : splice}}\n`);
}

/**
 * The top-level keys of a valid object, escapes decoded, with their last string or number as written, or ''. Undefined when it is nested
 * deeper than MAX_JSON_DEPTH.
 */
function topLevelKeys(text: string): Map<string, string> | undefined {
  const keys = new Map<string, string>();
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (char === '{' || char === '[') depth++;
    else if (char === '}' || char === ']') depth--;
    else if (char === '"') {
      const from = i + 1;
      for (i = from; text[i] !== '"'; i++) if (text[i] === '\\') i++;
      const colon = nextToken(text, i + 1);
      if (depth === 1 && text[colon] === ':') {
        const key = decoded(text.slice(from, i));
        const value = nextToken(text, colon + 1);
        const found = key === PAIR_KEY ? undefined : scalarAt(text, value);
        keys.set(key, found ?? objectTime(key, text, value) ?? keys.get(key) ?? '');
      }
    }
    if (depth > MAX_JSON_DEPTH) return undefined;
  }
  return keys;
}

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/y;

function scalarAt(text: string, at: number): string | undefined {
  STRING_OR_NUMBER.lastIndex = at;
  return STRING_OR_NUMBER.exec(text)?.[0];
}

const DATE = /\{[ \t\r]*"\$date"[ \t\r]*:[ \t\r]*("(?:[^"\\]|\\.)*")/y;
const PAIR =
  /\{[ \t\r]*"epochSecond"[ \t\r]*:[ \t\r]*(\d[\d.eE+-]*(?:[ \t\r]*,[ \t\r]*"nanoOfSecond"[ \t\r]*:[ \t\r]*\d+)?)/y;

/** Finds the time in an object that some programs write: a text, or seconds and the part after them. */
function objectTime(key: string, text: string, at: number): string | undefined {
  const pattern = key === TEXT_KEY ? DATE : key === PAIR_KEY ? PAIR : undefined;
  if (pattern) pattern.lastIndex = at;
  return pattern?.exec(text)?.[1];
}

/** Seconds and their nanoseconds as one number; none where the first is not whole. */
function pairOf(value: string): string {
  const [, second = '', nanos = ''] = /^(\d{9,10})(?:[ \t\r,]+"nanoOfSecond"[ \t\r:]+(\d+))?$/.exec(value) ?? [];
  return nanos === '' || nanos.length > 9 ? second : `${second}.${nanos.padStart(9, '0')}`;
}

/** The place of the next character that is not white space. */
function nextToken(text: string, at: number): number {
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\r') at++;
  return at;
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** A string's inside with its escapes decoded. Valid JSON is taken for granted. */
function decoded(inside: string): string {
  return inside.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, hex: string | undefined, char: string) =>
    hex === undefined ? (SHORT_ESCAPES[char] ?? char) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
