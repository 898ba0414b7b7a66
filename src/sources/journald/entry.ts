/**
 * One entry of the export format in JavaScript: its fields, its cursor, and the event of an entry that the kernel's loop leaves to it.
 * Events agree with those of the loop byte for byte (test/sources/journald/loop.test.ts).
 */
import { isUtf8 } from 'node:buffer';
import { FACILITIES, SEVERITIES } from '../../core/syslog-priority.ts';
import { hasObjectLine } from '../../core/bytes/object-text.ts';
import { MEMBERS } from '../../kernel/journal.ts';
import { rawMembers } from '../../json/edit.ts';
import { utf8 } from '../../parsers/text/encoding.ts';
import { cutToText } from '../../parsers/values/cut-text.ts';
import { jsonOf } from '../syslog/message/message-json.ts';
import type { JournaldConfig } from './journald-type.ts';
import { JOURNAL_FIELDS_BYTES, JOURNAL_VALUE_BYTES } from './limits.ts';

const LF = 0x0a;
const EQUALS = 0x3d;
/** 2000-01-01, in milliseconds. */
const EARLIEST_MS = 946_684_800_000;
const DAY_MS = 86_400_000;
/** Values that a list has of a field which every event may have. */
const MAX_OWN_VALUES = 8;
/** Bytes that the marks of a cut message take. */
const MARKS_BYTES = 64;

/** The field at `at`: its name, and where its value begins. Undefined while its head is not whole. */
export interface FieldHead {
  readonly name: string;
  readonly from: number;
  /** Undefined for a value that ends at the next newline. */
  readonly length: number | undefined;
}

export function fieldHead(bytes: Buffer, at: number, end: number): FieldHead | undefined {
  const newline = bytes.subarray(at, end).indexOf(LF);
  const head = bytes.subarray(at, newline < 0 ? end : at + newline);
  const equals = head.indexOf(EQUALS);
  if (equals >= 0) return { name: head.toString('latin1', 0, equals), from: at + equals + 1, length: undefined };
  if (newline < 0 || at + newline + 9 > end) return undefined;
  const length = Number(bytes.readBigUInt64LE(at + newline + 1));
  return { name: head.toString('latin1'), from: at + newline + 9, length };
}

/** The fields of an entry, each with its values in their order. */
export interface JournalEntry {
  readonly fields: Map<string, Buffer[]>;
  /** Bytes of its message, where that is not whole. */
  messageBytes?: number;
  /** Values are left out. */
  hasLess?: boolean;
}

export function addValue({ fields }: JournalEntry, name: string, value: Buffer): void {
  const others = fields.get(name);
  if (others) others.push(value);
  else fields.set(name, [value]);
}

/** `bytes` is a whole entry. */
export function readEntry(bytes: Buffer): JournalEntry {
  const entry = { fields: new Map<string, Buffer[]>() };
  for (let at = 0; at < bytes.length && bytes[at] !== LF;) {
    const { name, from, length = bytes.indexOf(LF, from) - from } = fieldHead(bytes, at, bytes.length)!;
    addValue(entry, name, bytes.subarray(from, from + length));
    at = from + length + 1;
  }
  return entry;
}

/** What a cursor says of its entry. */
export interface JournalCursor {
  readonly text: string;
  /** 32 hex digits. */
  readonly sequence: string;
  /** Of the entry in its sequence. */
  readonly number: number;
  /** Wall clock of the entry, milliseconds. */
  readonly atMs: number;
  /** The same for an entry that journald copied to another sequence. */
  readonly content: string;
}

const CURSOR = /^s=([0-9a-f]{32});i=([0-9a-f]{1,13});(b=[0-9a-f]{32};m=[0-9a-f]+;t=([0-9a-f]{1,16});x=[0-9a-f]+)$/;

export function parseCursor(text: string): JournalCursor | undefined {
  const found = CURSOR.exec(text);
  if (!found) return undefined;
  const [, sequence, number, content, time] = found;
  return {
    text,
    sequence: sequence!,
    number: Number.parseInt(number!, 16),
    atMs: Number.parseInt(time!, 16) / 1000,
    content: content!,
  };
}

/** The cursor of the entry that begins at `at`, with its newline before `end`. */
export function cursorAt(bytes: Buffer, at: number, end: number): JournalCursor | undefined {
  const [line = ''] = bytes.toString('latin1', at, Math.min(end, at + 256)).split('\n', 1);
  return parseCursor(line.replace('__CURSOR=', ''));
}

export type EntryForm = Pick<JournaldConfig, 'allFields' | 'parseJson' | 'maxEventBytes' | 'fields'>;

/**
 * The event of an entry, which takes at most `mostBytes` as JSON. Uses the entry up. With `allFields` those without a name of their own in an event come in
 * lower case without a leading `_`, and one whose name is taken as the journal has it; what an entry says of itself (`__CURSOR`) is left out.
 * `isUnread`: its message holds a part of a JSON object.
 */
export function eventOf(entry: JournalEntry, form: EntryForm, readAtMs: number, mostBytes: number) {
  const { fields } = entry;
  let { hasLess = false } = entry;
  let left = JOURNAL_FIELDS_BYTES;
  function take(name: string): string[] {
    const values = fields.get(name)?.slice(0, MAX_OWN_VALUES) ?? [];
    fields.delete(name);
    hasLess ||= values.some(({ length }) => length > JOURNAL_VALUE_BYTES);
    return values.map((value) => value.toString('utf8', 0, JOURNAL_VALUE_BYTES));
  }
  /** Adds a value, or a list of those of a field that the entry has more than once. */
  function put(key: string, texts: readonly string[]): void {
    if (texts.length === 0) return;
    left -= Buffer.byteLength(JSON.stringify([key, texts]));
    if (left < 0) hasLess = true;
    else event[key] = texts.length === 1 ? texts[0] : texts;
  }
  const messages = fields.get('MESSAGE');
  fields.delete('MESSAGE');
  const [sent, received] = [take('_SOURCE_REALTIME_TIMESTAMP'), take('__REALTIME_TIMESTAMP')];
  const event: Record<string, unknown> = {
    _time: timeOf(sent, readAtMs) ?? timeOf(received, readAtMs),
    message: undefined,
  };
  for (const [key, ...names] of MEMBERS) put(key, take(names.find((name) => fields.has(name)) ?? ''));
  Object.assign(
    event,
    codeOf('severity', SEVERITIES, take('PRIORITY')),
    codeOf('facility', FACILITIES, take('SYSLOG_FACILITY')),
  );
  event['truncated'] = event['original_bytes'] = undefined;
  for (const [name, values] of form.allFields ? fields : []) {
    const lower = name.replace(/^_/, '').toLowerCase();
    const texts = values.map((value) => value.toString(isUtf8(value) ? 'utf8' : 'base64', 0, Math.max(0, left)));
    if (!name.startsWith('__')) put(Object.hasOwn(event, lower) ? name : lower, texts);
  }
  const maxJsonBytes = mostBytes - Buffer.byteLength(JSON.stringify(event)) - MARKS_BYTES;
  const message = messages && cutMessage(messages, form.maxEventBytes, maxJsonBytes);
  const isTruncated = hasLess || entry.messageBytes !== undefined || message?.isCut === true;
  event['message'] = message?.text;
  if (isTruncated)
    Object.assign(event, { truncated: true, original_bytes: entry.messageBytes ?? message?.length ?? 0 });
  const json = JSON.stringify(event);
  const isObject = form.parseJson && message !== undefined && hasObjectLine(message.text);
  const object = isObject && !isTruncated ? jsonOf(message.text, 'fields') : undefined;
  if (object === undefined) return { json, isTruncated, isUnread: isObject && isTruncated };
  const members = rawMembers(object).filter(
    ({ name }) => !Object.hasOwn(event, name) && !Object.hasOwn(form.fields, name),
  );
  const whole = `${json.slice(0, -1)}${members.map((member) => `,${member.json}`).join('')}}`;
  const isTooLong = Buffer.byteLength(whole) > mostBytes;
  return { json: isTooLong ? json : whole, isTruncated, isUnread: isTooLong };
}

/** Microseconds since 1970 as RFC 3339; undefined unless it is taken for a time. */
function timeOf(values: readonly string[], readAtMs: number): string | undefined {
  const [micros = ''] = values;
  const second = Number(micros.slice(0, -6)) * 1000;
  if (
    values.length !== 1 ||
    !/^\d{16}$/.test(micros) ||
    second < EARLIEST_MS ||
    second > Math.floor((readAtMs + DAY_MS) / 1000) * 1000
  )
    return undefined;
  return `${new Date(second).toISOString().slice(0, 20)}${micros.slice(-6)}Z`;
}

function codeOf(key: string, names: readonly string[], values: readonly string[]): Record<string, unknown> {
  const code = values.length === 1 && /^\d{1,2}$/.test(values[0]!) ? Number(values[0]) : names.length;
  return code < names.length ? { [key]: names[code], [`${key}_code`]: code } : {};
}

/** The message, cut where it is longer than one may be as text or as JSON; repeated ones are its lines. */
function cutMessage(messages: readonly Buffer[], maxBytes: number, maxJsonBytes: number) {
  const whole = messages.length === 1 ? messages[0]! : Buffer.from(messages.map(String).join('\n'));
  let cut = whole.length;
  let text = whole.toString();
  const isTooLong = (): boolean =>
    Buffer.byteLength(text) > maxBytes || Buffer.byteLength(JSON.stringify(text)) > maxJsonBytes;
  for (let most = maxBytes; most > 0 && isTooLong(); most >>= 1) {
    cut = cutToText(utf8, whole, 0, whole.length, most);
    text = whole.toString('utf8', 0, cut);
  }
  return { text, length: whole.length, isCut: cut < whole.length };
}
