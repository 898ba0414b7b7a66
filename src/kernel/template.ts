/**
 * Compiled shapes: an event's fixed bytes, encoded once and laid out for the kernel (assembly/kernel.ts `useTemplate`).
 * An image holds addresses, so it belongs at one place of the memory; images stay in JavaScript, thousands of them, and
 * the wrapper copies one in when a block of another shape comes.
 *
 * Which keys an event gets, each once:
 * - Wrapped: `_time`, `message`, with format `json` `parse_error`, the marks of a line over the limit; then `wrapFields`
 *   and `fields` without keys of those names, `fields` winning over a wrap field of the same name.
 * - Passed through: `fields` whose key the object has not at top level, then `_time` when the object has neither it nor
 *   the timestamp field. A `_time` among `fields` counts as a field and takes the place of the read time.
 */
import { TailraceError } from '../core/errors.ts';
import { MAX_FIELDS } from '../core/limits.ts';
import { MAX_TEMPLATE_BYTES } from './limits.ts';
import type { EventShape, EventTimes, JsonValue, Marks } from '../core/block.ts';

/** The text of `parse_error` with format `json`. */
const NOT_AN_OBJECT = 'not a JSON object';

/** Keys that other programs use for other values, too: this one counts with a date and clock, or in MongoDB's logs with an object around them. */
export const TEXT_KEY = 't';
/** Log4j writes an object of seconds and nanoseconds. */
export const PAIR_KEY = 'instant';

const HEADER_BYTES = 64;
const TIME_MARK = 1n << 62n;
/** Marks a key whose value may be the event's time. */
const TIME_KEY = 1n << 61n;

/**
 * The image of a shape, and of an event's own marks, for address `at`.
 * Throws `TailraceError` `E_FIELDS` for more than MAX_FIELDS fields or an image over MAX_TEMPLATE_BYTES.
 *
 * Layout, little-endian u32: suffix, its length, joined fields, their length, the table of field lengths, field count,
 * whether `_time` is ever added, key table, key count, longest key; u64 the filter of assembly/keys.ts; u32 whether times are read, how
 * many keys have times for values (those that come next may begin with one), a bit for each of these whose value is text or `{"$date": …}`, and
 * for each that has `{"epochSecond": …}`. Then the tables.
 */
export function encodeTemplate(
  shape: EventShape,
  timestampField: string | undefined,
  at: number,
  marks?: Marks,
): Buffer {
  const fields = Object.entries(shape.fields);
  if (fields.length > MAX_FIELDS) {
    throw new TailraceError(
      'E_FIELDS',
      `${fields.length} fields are to be added to each event, ${MAX_FIELDS} are possible`,
      {
        fix: 'Remove some of the fields, or nest them: {ctx: {a: 1, b: 2}}',
      },
    );
  }
  const members = fields.map(([key, value]) => Buffer.from(`,${member(key, value)}`));
  const times = timesOf(shape, timestampField);
  const keys = keyTable(Object.keys(shape.fields), timestampField, times);
  const suffix = Buffer.from(wrapSuffix(shape, marks));

  const keysAt = HEADER_BYTES;
  const lengthsAt = keysAt + 16 * keys.length;
  const keyBytes = Buffer.concat(keys.map((key) => key.bytes));
  const keyBytesAt = lengthsAt + 4 * members.length;
  const fieldsAt = keyBytesAt + keyBytes.length;
  const fieldsLength = members.reduce((sum, bytes) => sum + bytes.length, 0);
  const suffixAt = fieldsAt + fieldsLength;
  const size = suffixAt + suffix.length;
  if (size > MAX_TEMPLATE_BYTES) {
    throw new TailraceError(
      'E_FIELDS',
      `the fields added to each event take ${size} bytes, ${MAX_TEMPLATE_BYTES} are possible`,
      {
        fix: 'Shorten the fields of this source',
      },
    );
  }

  const image = Buffer.alloc(size);
  const header = [at + suffixAt, suffix.length, at + fieldsAt, fieldsLength, at + lengthsAt, members.length];
  header.push(
    Object.hasOwn(shape.fields, '_time') ? 0 : 1,
    at + keysAt,
    keys.length,
    Math.max(0, ...keys.map((key) => key.bytes.length)),
  );
  header.forEach((value, i) => image.writeUInt32LE(value, 4 * i));
  image.writeBigUInt64LE(
    keys.reduce((bits, key) => bits | filterBit(key.bytes), 0n),
    40,
  );
  // A part of a line that is not its first begins anywhere.
  if (times && (marks?.['part'] ?? 1) === 1) image.writeUInt32LE(1, 48);
  const bitsOf = (name: string): number =>
    (times?.keys ?? []).reduce((bits, key, n) => (key === name ? bits | (1 << n) : bits), 0);
  image.writeUInt32LE(times?.keys.length ?? 0, 52);
  image.writeUInt32LE(bitsOf(TEXT_KEY), 56);
  image.writeUInt32LE(bitsOf(PAIR_KEY), 60);
  let address = at + keyBytesAt;
  keys.forEach(({ bytes, marks }, i) => {
    image.writeUInt32LE(address, keysAt + 16 * i);
    image.writeUInt32LE(bytes.length, keysAt + 16 * i + 4);
    image.writeBigUInt64LE(marks, keysAt + 16 * i + 8);
    address += bytes.length;
  });
  members.forEach((bytes, i) => image.writeUInt32LE(bytes.length, lengthsAt + 4 * i));
  keyBytes.copy(image, keyBytesAt);
  Buffer.concat(members).copy(image, fieldsAt);
  suffix.copy(image, suffixAt);
  return image;
}

/** Where an event's own time is read from; undefined where the service reads it, or no one does. */
export function timesOf({ time }: EventShape, timestampField: string | undefined): EventTimes | undefined {
  return timestampField === undefined ? time : undefined;
}

/** The bytes after a wrapped line's escaped text: its closing quote, the further keys, `}` and the newline. */
function wrapSuffix(shape: EventShape, marks: Marks | undefined): string {
  const own: [string, JsonValue][] = [];
  if (shape.format === 'json') own.push(['parse_error', NOT_AN_OBJECT]);
  if (marks) own.push(...Object.entries(marks));
  // The first of a name gives its place, the last its value: the event's own go to both ends.
  const members = new Map([...own, ...Object.entries(shape.wrapFields), ...Object.entries(shape.fields), ...own]);
  members.delete('_time');
  members.delete('message');
  return `"${[...members].map(([key, value]) => `,${member(key, value)}`).join('')}}\n`;
}

function member(key: string, value: JsonValue): string {
  return `${JSON.stringify(key)}:${JSON.stringify(value)}`;
}

/** The keys to look for in a line, each with its marks: bit i for field i, bit 62 for a key that gives the time. */
function keyTable(
  fields: string[],
  timestampField: string | undefined,
  times: EventTimes | undefined,
): { bytes: Buffer; marks: bigint }[] {
  const marks = new Map<string, bigint>();
  // The kernel knows them by their places, which are the first.
  for (const key of times ? timeKeysOf(times) : []) marks.set(key, TIME_KEY);
  fields.forEach((key, i) => marks.set(key, (marks.get(key) ?? 0n) | (1n << BigInt(i))));
  for (const key of ['_time', ...(timestampField === undefined ? [] : [timestampField])]) {
    marks.set(key, (marks.get(key) ?? 0n) | TIME_MARK);
  }
  return [...marks].map(([key, bits]) => ({ bytes: keyBytes(key), marks: bits }));
}

/** The keys that the kernel notes the values of. */
export function timeKeysOf({ keys, messageLeads }: EventTimes): string[] {
  return messageLeads ? [...keys, 'message'] : [...keys];
}

/** A key as UTF-8, a lone surrogate as its three bytes, so that `"\ud800"` in a line equals it and U+FFFD does not. */
function keyBytes(key: string): Buffer {
  if (key.isWellFormed()) return Buffer.from(key);
  return Buffer.concat(
    Array.from(key, (char) => {
      const code = char.charCodeAt(0);
      return char.isWellFormed()
        ? Buffer.from(char)
        : Buffer.of(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
    }),
  );
}

/** The bit of a key in the filter; an empty key's first byte is the quote that closes it. */
function filterBit(key: Buffer): bigint {
  return 1n << BigInt((3 * key.length + (key[0] ?? 0x22)) % 64);
}
