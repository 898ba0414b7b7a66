/**
 * One message's bytes to the event's JSON, for messages that the kernel leaves to JavaScript. Promises: always an event; an unparsable
 * message is whole in `message` with `parse_error`; the JSON is never longer than the caller's limit and `message` never longer than
 * `maxEventBytes`.
 */
import { isUtf8 } from 'node:buffer';
import { utf8Cut } from '../../../parsers/text/encoding.ts';
import { rawMembers } from '../../../json/edit.ts';
import type { MessageFields, MessageFrame, MessagePart } from './frame.ts';
import { type Body, bodyOf, type ParseBody } from './bodies.ts';
import { OWN_NAMES } from './event-form.ts';
import { type HeaderReader, parseHeader } from './header.ts';
import { jsonOf, type ParseJson } from './message-json.ts';
import type { EventEnding } from './sender.ts';
import { readSentTime, TEXT_END } from './sent-time.ts';
import { FACILITIES, SEVERITIES } from '../../../core/syslog-priority.ts';
import type { Zone } from '../../../core/time/zone.ts';

/** Facts that are not in the message itself. */
export interface Receipt {
  readonly receivedAtMs: number;
  /** The members that end the event. */
  readonly ending: EventEnding;
  readonly zone: Zone;
  readonly parseJson: ParseJson;
  /** Absent: none. */
  readonly parse?: ParseBody;
  /** Names of the fields that the agent gives events. */
  readonly fieldNames?: ReadonlySet<string>;
  /** Reads messages that are no UTF-8; undefined: invalid bytes become U+FFFD. */
  readonly decode?: ((bytes: Buffer) => string) | undefined;
  readonly readHeader: HeaderReader;
}

export interface EncodedEvent {
  readonly json: string;
  readonly isTruncated: boolean;
  /** It is not too long: its end has not come. */
  readonly isCutOff: boolean;
  /** Its header could not be read: all of it is text. */
  readonly isUnparsed: boolean;
  /** Its time cannot be: it has that of the receipt. */
  readonly hasTimeError: boolean;
}

/** The event of a message, as one line of JSON of at most `maxJsonBytes` (4 KiB or more) without the newline. */
export function encodeEvent(
  frame: MessageFrame,
  receipt: Receipt,
  maxEventBytes: number,
  maxJsonBytes: number,
): EncodedEvent {
  const text = textOf(frame.bytes, receipt);
  const event = eventOf(text, frame, receipt);
  const isCutOff = frame.isCutOff === true && frame.bytes.length <= maxEventBytes;
  if (frame.originalBytes !== undefined) markTruncated(event, frame.originalBytes);
  // Each invalid byte becomes three bytes of U+FFFD: the text may have grown over the limit.
  if (3 * frame.bytes.length > maxEventBytes) cutMessage(event, maxEventBytes, frame);
  const json = withJson(event, receipt, maxJsonBytes);
  if (3 * json.length <= maxJsonBytes || Buffer.byteLength(json) <= maxJsonBytes)
    return {
      json,
      isTruncated: event['truncated'] === true,
      isCutOff,
      isUnparsed: event['parse_error'] !== undefined,
      hasTimeError: event['time_error'] !== undefined,
    };
  // Its fields find no room beside it.
  if (receipt.parse !== undefined && receipt.parse !== 'none')
    return encodeEvent(frame, { ...receipt, parse: 'none' }, maxEventBytes, maxJsonBytes);
  // Characters that JSON writes as six bytes, by the megabyte: the beginning is kept.
  const kept = text.toString().slice(0, Math.floor((maxJsonBytes - 2048) / 6));
  const smaller = unparsed(kept, 'too large once written as JSON', receipt);
  markTruncated(smaller, frame.originalBytes ?? frame.bytes.length);
  return { json: JSON.stringify(smaller), isTruncated: true, isCutOff: false, isUnparsed: true, hasTimeError: false };
}

function textOf(bytes: Buffer, { decode }: Receipt): Buffer {
  return decode === undefined || isUtf8(bytes) ? bytes : Buffer.from(decode(bytes));
}

/** The event's JSON, with its message as an object where that is wanted and fits. */
function withJson(event: MessageFields, { parseJson, fieldNames }: Receipt, maxJsonBytes: number): string {
  const json = JSON.stringify(event);
  const { message } = event;
  const isWhole = event['parse_error'] === undefined && event['part'] === undefined;
  const object = typeof message === 'string' && isWhole ? jsonOf(message, parseJson) : undefined;
  if (object !== undefined && parseJson === 'fields') return withMembers(json, event, object, fieldNames, maxJsonBytes);
  if (object === undefined || Buffer.byteLength(json) + Buffer.byteLength(object) + 10 > maxJsonBytes) return json;
  return `${json.slice(0, -1)},"json":${object}}`;
}

/** With the object's members that no key of the event, be it absent, and none of the agent's fields has. */
function withMembers(
  json: string,
  event: MessageFields,
  object: string,
  fieldNames: ReadonlySet<string> | undefined,
  maxJsonBytes: number,
): string {
  const members = rawMembers(object).filter(({ name }) => !Object.hasOwn(event, name) && !fieldNames?.has(name));
  const added = members.map((member) => `,${member.json}`).join('');
  return Buffer.byteLength(json) + Buffer.byteLength(added) > maxJsonBytes ? json : `${json.slice(0, -1)}${added}}`;
}

/** The fields of the event. A key whose value is undefined is absent. */
export function parseMessage(text: Buffer, receipt: Receipt): MessageFields {
  const parsed = parseHeader(text, receipt.readHeader, receipt.receivedAtMs, receipt.zone);
  if (typeof parsed === 'string') return unparsed(text.toString(), parsed, receipt);
  const [facility, severity] = [parsed.priority >> 3, parsed.priority & 7];
  const body = bodyOf(parsed.message, receipt.parse ?? 'none');
  const hasTime = parsed.time !== undefined || parsed.timeError !== undefined;
  return {
    _time: parsed.time ?? (hasTime ? undefined : timeOf(body, receipt)) ?? receiptTime(receipt),
    message: parsed.message,
    host: parsed.host,
    appname: parsed.appname,
    procid: parsed.procid,
    msgid: parsed.msgid,
    facility: FACILITIES[facility]!,
    severity: SEVERITIES[severity]!,
    facility_code: facility,
    severity_code: severity,
    structured_data: parsed.structuredData,
    time_error: parsed.timeError,
    parse_error: body?.error,
    ...receipt.ending,
    ...(body && fieldsOf(body, receipt)),
  };
}

/** The body's fields; the event's own names and those of the agent's fields win. */
function fieldsOf({ fields }: Body, { fieldNames }: Receipt): MessageFields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !OWN_NAMES.has(name) && !fieldNames?.has(name)));
}

/** Of a message whose header has no time: `rt` of CEF, `devTime` of LEEF. */
function timeOf(body: Body | undefined, { receivedAtMs, zone }: Receipt): string | undefined {
  const text = body?.fields['rt'] ?? body?.fields['devTime'];
  return typeof text === 'string' ? readSentTime(text, 0, TEXT_END, receivedAtMs, zone)?.time : undefined;
}

function eventOf(text: Buffer, { part, isOutOfStep, originalBytes }: MessageFrame, receipt: Receipt): MessageFields {
  const isWhole = part === undefined && originalBytes === undefined;
  const parse = (): MessageFields =>
    isOutOfStep
      ? unparsed(text.toString(), 'the octet count before it is wrong', receipt)
      : parseMessage(text, isWhole ? receipt : { ...receipt, parse: 'none' });
  return part === undefined ? parse() : withPart(text, part, parse);
}

/** A part of a message: the first one's header holds for all. */
function withPart(text: Buffer, { number, isLast, message }: MessagePart, parse: () => MessageFields): MessageFields {
  message.head ??= parse();
  const marks = { part: number, ...(isLast && { part_last: true }) };
  return { ...message.head, ...(number > 1 && { message: text.toString() }), ...marks };
}

function unparsed(text: string, reason: string, receipt: Receipt): MessageFields {
  return { _time: receiptTime(receipt), message: text, parse_error: reason, ...receipt.ending };
}

function receiptTime(receipt: Receipt): string {
  return new Date(receipt.receivedAtMs).toISOString();
}

function markTruncated(event: MessageFields, originalBytes: number): void {
  event['truncated'] = true;
  event['original_bytes'] = originalBytes;
}

function cutMessage(event: MessageFields, maxEventBytes: number, frame: MessageFrame): void {
  const { message } = event;
  if (typeof message !== 'string') return;
  const bytes = Buffer.from(message);
  if (bytes.length <= maxEventBytes) return;
  event['message'] = bytes.toString('utf8', 0, utf8Cut(bytes, 0, maxEventBytes));
  markTruncated(event, frame.originalBytes ?? frame.bytes.length);
}
