/**
 * One entry of the export format in JavaScript: its fields, its cursor, and the event of an entry that the kernel's loop leaves to it.
 * Events agree with those of the loop byte for byte (test/sources/journald/loop.test.ts).
 */
import { isUtf8 } from 'node:buffer';
import { FACILITIES, SEVERITIES } from '../../core/syslog-priority.ts';
import { hasObjectLine } from '../../core/bytes/object-text.ts';
import { CUT_FIELD } from '../../kernel/journal.ts';
import { rawMembers } from '../../json/edit.ts';
import { utf8 } from '../../parsers/text/encoding.ts';
import { cutToText } from '../../parsers/values/cut-text.ts';
import { jsonOf } from '../syslog/message/message-json.ts';
import { JOURNAL_FIELDS_BYTES } from './limits.ts';

const LF = 0x0a;
const EQUALS = 0x3d;
/** 2000-01-01, in milliseconds. */
const EARLIEST_MS = 946_684_800_000;
const DAY_MS = 86_400_000;
/** Of a value that every event may have; and values that a list of such has. assembly/journal/journal.ts has the same bound. */
const MAX_OWN_BYTES = 4096;
const MAX_OWN_VALUES = 8;
/** Bytes that the marks of a cut message take. */
const MARKS_BYTES = 64;

/** The field at `at`: its name, where its value begins and, once that is known, where it ends. Undefined while its head is not whole. */
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

/** The fields of a whole entry, each with its values in their order. */
function fieldsOf(entry: Buffer): Map<string, Buffer[]> {
  const fields = new Map<string, Buffer[]>();
  for (let at = 0; at < entry.length && entry[at] !== LF;) {
    const { name, from, length = entry.indexOf(LF, from) - from } = fieldHead(entry, at, entry.length)!;
    const value = entry.subarray(from, from + length);
    const others = fields.get(name);
    if (others) others.push(value);
    else fields.set(name, [value]);
    at = from + length + 1;
  }
  return fields;
}

/** What a cursor says of its entry. */
export interface Cursor {
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
const CURSOR_FIELD = '__CURSOR=';

export function parseCursor(text: string): Cursor | undefined {
  const found = CURSOR.exec(text);
  if (!found) return undefined;
  const [, sequence, number, content, time] = found;
  return { text, sequence: sequence!, number: Number.parseInt(number!, 16), atMs: Number.parseInt(time!, 16) / 1000, content: content! };
}

/** The cursor of the entry that begins at `at`; undefined where there is no whole one. */
export function cursorAt(bytes: Buffer, at: number, end: number): Cursor | undefined {
  const line = bytes.subarray(at, Math.min(end, at + 256));
  const newline = line.indexOf(LF);
  const text = line.toString('latin1', 0, Math.max(0, newline));
  return text.startsWith(CURSOR_FIELD) ? parseCursor(text.slice(CURSOR_FIELD.length)) : undefined;
}

export interface EntryForm {
  readonly allFields: boolean;
  readonly parseJson: boolean;
  readonly maxEventBytes: number;
  /** Names of the fields that the agent gives events. */
  readonly fieldNames: ReadonlySet<string>;
}

export interface MadeEvent {
  readonly json: string;
  readonly isTruncated: boolean;
  /** Its message holds a part of a JSON object. */
  readonly isUnread: boolean;
}

/** The event of a whole entry, which takes at most `mostBytes` as JSON. */
export function eventOf(entry: Buffer, form: EntryForm, readAtMs: number, mostBytes: number): MadeEvent {
  const fields = fieldsOf(entry);
  const cut = fields.get(CUT_FIELD)?.map(Number);
  let hasLess = cut !== undefined;
  /** A list where the entry has the field more than once. */
  function take(name: string): string | string[] | undefined {
    const values = fields.get(name)?.slice(0, MAX_OWN_VALUES);
    fields.delete(name);
    hasLess ||= values?.some(({ length }) => length > MAX_OWN_BYTES) === true;
    const texts = values?.map((value) => value.toString('utf8', 0, MAX_OWN_BYTES));
    return texts?.length === 1 ? texts[0] : texts;
  }
  const messages = fields.get('MESSAGE');
  fields.delete('MESSAGE');
  const [sent, received] = [take('_SOURCE_REALTIME_TIMESTAMP'), take('__REALTIME_TIMESTAMP')];
  const event: Record<string, unknown> = {
    _time: timeOf(sent, readAtMs) ?? timeOf(received, readAtMs),
    message: undefined,
    host: take('_HOSTNAME'),
    appname: fields.has('SYSLOG_IDENTIFIER') ? take('SYSLOG_IDENTIFIER') : take('_COMM'),
    procid: fields.has('SYSLOG_PID') ? take('SYSLOG_PID') : take('_PID'),
    unit: take('_SYSTEMD_UNIT'),
    ...codeOf('severity', SEVERITIES, take('PRIORITY')),
    ...codeOf('facility', FACILITIES, take('SYSLOG_FACILITY')),
    truncated: undefined,
    original_bytes: undefined,
  };
  if (form.allFields) hasLess = addOthers(event, fields) || hasLess;
  const left = mostBytes - Buffer.byteLength(JSON.stringify(event)) - MARKS_BYTES;
  const { text, length, isCut } = cutMessage(messages, form.maxEventBytes, left);
  const isTruncated = hasLess || isCut;
  event['message'] = text;
  if (isTruncated) Object.assign(event, { truncated: true, original_bytes: Math.max(length, ...(cut ?? [])) });
  const json = JSON.stringify(event);
  const isObject = form.parseJson && text !== undefined && hasObjectLine(text);
  const object = isObject && !isTruncated ? jsonOf(text, 'fields') : undefined;
  if (object === undefined) return { json, isTruncated, isUnread: isObject && isTruncated };
  const members = rawMembers(object).filter(({ name }) => !Object.hasOwn(event, name) && !form.fieldNames.has(name));
  const added = members.map((member) => `,${member.json}`).join('');
  const isTooLong = Buffer.byteLength(json) + Buffer.byteLength(added) > mostBytes;
  return { json: isTooLong ? json : `${json.slice(0, -1)}${added}}`, isTruncated, isUnread: isTooLong };
}

/** Microseconds since 1970 as RFC 3339; undefined for what is not taken for a time. */
function timeOf(micros: string | string[] | undefined, readAtMs: number): string | undefined {
  if (typeof micros !== 'string' || !/^\d{16}$/.test(micros)) return undefined;
  const second = Number(micros.slice(0, -6)) * 1000;
  if (second < EARLIEST_MS || second > Math.floor((readAtMs + DAY_MS) / 1000) * 1000) return undefined;
  return `${new Date(second).toISOString().slice(0, 20)}${micros.slice(-6)}Z`;
}

function codeOf(key: string, names: readonly string[], text: string | string[] | undefined): Record<string, unknown> {
  const code = typeof text === 'string' && /^\d{1,2}$/.test(text) ? Number(text) : names.length;
  return code < names.length ? { [key]: names[code], [`${key}_code`]: code } : {};
}

/**
 * Adds the fields that have no name of their own in an event, in lower case without a leading `_`; one whose name is taken keeps the journal's. What an
 * entry says of itself (`__CURSOR`) is left out. True where they are too many.
 */
function addOthers(event: Record<string, unknown>, fields: ReadonlyMap<string, readonly Buffer[]>): boolean {
  let bytes = 0;
  for (const [name, values] of fields) {
    if (name.startsWith('__')) continue;
    const lower = name.replace(/^_/, '').toLowerCase();
    const key = Object.hasOwn(event, lower) ? name : lower;
    const length = values.reduce((sum, value) => sum + value.length, 0);
    if (length > JOURNAL_FIELDS_BYTES) return true;
    const texts = values.map((value) => (isUtf8(value) ? value.toString() : value.toString('base64')));
    const value = texts.length === 1 ? texts[0] : texts;
    bytes += Buffer.byteLength(JSON.stringify({ [key]: value }));
    if (bytes > JOURNAL_FIELDS_BYTES) return true;
    event[key] = value;
  }
  return false;
}

/** The message, cut where it is longer than one may be as text or as JSON; repeated ones are its lines. */
function cutMessage(messages: readonly Buffer[] | undefined, maxBytes: number, maxJsonBytes: number) {
  if (messages === undefined) return { text: undefined, length: 0, isCut: false };
  const whole = messages.length === 1 ? messages[0]! : Buffer.from(messages.map(String).join('\n'));
  let text = whole.toString();
  let isCut = Buffer.byteLength(text) > maxBytes;
  for (let most = isCut ? maxBytes : whole.length; isCut || Buffer.byteLength(JSON.stringify(text)) > maxJsonBytes; most = most >> 1) {
    isCut = true;
    text = whole.toString('utf8', 0, cutToText(utf8, whole, 0, whole.length, most));
    if (Buffer.byteLength(JSON.stringify(text)) <= maxJsonBytes) break;
  }
  return { text, length: whole.length, isCut };
}
