/**
 * What the configuration makes of texts beyond their format, in this order: JSON in messages, types, the time (docs/formats.md). Only for what the
 * kernel does not do by itself.
 */
import { isJson, type JsonValue } from '../core/block.ts';
import { hasObjectLine } from '../core/bytes/object-text.ts';
import type { GivenTime } from './values/given-time.ts';
import type { FormatParser, LineParser } from './formats/line-parser.ts';
import { editJson, rawMembers } from '../json/edit.ts';
import { isRawNumber, mayRound, parseExactly, parseExactObject, parseObject } from '../json/numbers.ts';
import { type EventFields, type ValueErrors, emptyFields } from './values/fields.ts';
import { locateField } from './values/field-location.ts';
import { convertTypes, type ParseTime, type ValueType } from './values/typed-values.ts';

export interface TimeStep {
  /** Where the configuration names it. */
  readonly field: string | undefined;
  /** The fate of a `_time` of the format's own: a named group, a column, the time of an access log. */
  readonly own: 'keep' | 'read' | 'drop';
  /** Tried where there is no `field`. */
  readonly keys: readonly string[];
  /** Then whether a text may begin with its time. */
  readonly leads: boolean;
  readonly time: GivenTime;
  /** For a format that reads its `_time` itself to RFC 3339: such a text stays as it is where the time is taken. */
  readonly ownTime: GivenTime | undefined;
  /** The `time_error` without the unreadable text, which a transform may have to hide. */
  readonly wanted: string | undefined;
}

export interface ShapeSteps {
  readonly time: TimeStep | undefined;
  readonly types: readonly (readonly [name: string, type: ValueType])[];
  /** Reads values of the type `datetime`. */
  readonly readTime: ParseTime;
  /** JSON in messages becomes fields, but for keys that others give an event; undefined where it is left alone. */
  readonly isTaken: ((key: string) => boolean) | undefined;
}

/** As formats write the time that they read. */
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
/** Characters of a text that cannot be read, as `time_error` quotes it. */
const MAX_QUOTED = 200;

/** `format` undefined: JSON lines, and text that the kernel makes events of. */
export function createLineParser(format: FormatParser | undefined, steps: ShapeSteps, errors: ValueErrors): LineParser {
  const { time: step, types, readTime, isTaken } = steps;
  const convert = (event: EventFields, readAtMs: number, changed?: (readonly string[])[]): void => {
    const failures = convertTypes(event, types, readTime, readAtMs, changed);
    if (failures > 0) errors.typeErrors = (errors.typeErrors ?? 0) + failures;
  };
  const shaped = (parsed: EventFields, readAtMs: number): EventFields | string => {
    // A time of the format's own gives way to the one that is read from it.
    const made = step && Object.hasOwn(parsed, '_time') ? timed(parsed, step, readAtMs) : parsed;
    const found = isTaken && messageObject(made);
    if (found && !isBehindObject(made, found)) {
      const text = withMembers(JSON.stringify(made), made, found, isTaken);
      return shapedLine(text, readAtMs) ?? text;
    }
    const event = found ? Object.assign(emptyFields(), made, pickFrom(found, made, isTaken)) : made;
    convert(event, readAtMs);
    return step && !Object.hasOwn(parsed, '_time') ? timed(event, step, readAtMs) : event;
  };
  const timed = (event: EventFields, step: TimeStep, readAtMs: number): EventFields => {
    const found = timeOf(event, step, readAtMs);
    if (found === undefined) return event;
    if (found === 'drop') return withoutTime(event);
    if (found.text !== undefined) return { ...event, _time: found.text };
    errors.timeErrors = (errors.timeErrors ?? 0) + 1;
    return { ...withoutTime(event), time_error: found.error };
  };
  const readsTimes = types.some(([, type]) => type === 'datetime');
  /** A JSON line keeps its bytes, except for its typed values and its time; undefined for other lines. */
  const shapedLine = (text: string, readAtMs: number): string | undefined => {
    // A count of nanoseconds has more digits than a number holds.
    const event = parseLine(text, readsTimes && mayRound(text) ? parseExactly : undefined);
    if (!event) return undefined;
    const changed: (readonly string[])[] = [];
    convert(event, readAtMs, changed);
    const typed = changed.length === 0 ? text : editJson(text, event, changed);
    const written = step && !Object.hasOwn(event, '_time') ? parseLine(typed, parseExactly) : undefined;
    return step && written ? withAdded(typed, written, timed(written, step, readAtMs)) : typed;
  };
  const shapedObject = (text: string, readAtMs: number): string => {
    const event = isTaken && parseLine(text);
    const found = event && messageObject(event);
    const whole = found ? withMembers(text, event, found, isTaken) : text;
    return shapedLine(whole, readAtMs) ?? whole;
  };
  return {
    parse(text, readAtMs) {
      if (format)
        return format
          .parse(text)
          .map((event) => (typeof event === 'string' ? shapedObject(event, readAtMs) : shaped(event, readAtMs)));
      const line = shapedLine(text, readAtMs);
      if (line !== undefined) return [line];
      const leading = step?.leads ? step.time.leading(text, readAtMs) : undefined;
      const made = { ...(leading === undefined ? {} : { _time: leading }), message: text };
      const found = isTaken && messageObject(made);
      if (!found) return [leading === undefined ? text : made];
      if (isBehindObject(made, found)) return [shaped(made, readAtMs)];
      const whole = withMembers(JSON.stringify(made), made, found, isTaken);
      return [shapedLine(whole, readAtMs) ?? whole];
    },
    ...(format?.restart ? { restart: () => format.restart!() } : {}),
    ...(format?.learn ? { learn: (head: string) => format.learn!(head) } : {}),
    ...(format?.header ? { header: () => format.header!() } : {}),
  };
}

interface FoundTime {
  readonly text?: string;
  readonly error: string;
}

const withoutTime = ({ _time, ...rest }: EventFields): EventFields => rest;

/** Undefined where the event's own time stays, or there is nothing to read. */
function timeOf(event: EventFields, step: TimeStep, readAtMs: number): FoundTime | 'drop' | undefined {
  const { field, own, keys, leads, time, ownTime, wanted } = step;
  const hasOwn = Object.hasOwn(event, '_time');
  if (hasOwn && own !== 'read') return own === 'drop' ? own : undefined;
  const name = hasOwn ? '_time' : field;
  if (name !== undefined) {
    const place = locateField(event, name);
    const value = place?.holder[place.key];
    if (value === undefined || value === null) return undefined;
    const scalar = scalarText(value);
    if (hasOwn && scalar !== undefined && RFC_3339.test(scalar) && ownTime?.whole(scalar, readAtMs) !== undefined)
      return undefined;
    const text = scalar === undefined ? undefined : time.whole(scalar, readAtMs);
    return {
      ...(text === undefined ? {} : { text }),
      error: wanted ?? (scalar ?? JSON.stringify(value)).slice(0, MAX_QUOTED).toWellFormed(),
    };
  }
  for (const key of keys) {
    const scalar = Object.hasOwn(event, key) ? scalarText(event[key]!) : undefined;
    const text = scalar === undefined ? undefined : time.whole(scalar, readAtMs);
    if (text !== undefined) return { text, error: '' };
  }
  const { message } = event;
  const text = leads && typeof message === 'string' ? time.leading(message, readAtMs) : undefined;
  return text === undefined ? undefined : { text, error: '' };
}

/** Undefined for objects, lists and null. */
function scalarText(value: JsonValue): string | undefined {
  return isRawNumber(value) ? value.rawJSON : typeof value === 'object' ? undefined : String(value);
}

/** The object's own bytes, with the added members after them. */
function withAdded(text: string, before: EventFields, after: EventFields): string {
  const added = Object.entries(after).filter(([key]) => !Object.hasOwn(before, key));
  const members = added.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  return append(text, before, members);
}

function append(text: string, before: EventFields, members: readonly string[]): string {
  if (members.length === 0) return text;
  return `${text.slice(0, text.lastIndexOf('}'))}${Object.keys(before).length === 0 ? '' : ','}${members.join(',')}}`;
}

/** Parses a line that begins with an object. */
const parseLine = (text: string, parse?: (text: string) => unknown): EventFields | undefined =>
  /^[ \t\r]*\{/.test(text) ? parseObject(text, parse) : undefined;

/** Places in a message where an object may begin that are tried. */
const MAX_TRIES = 4;

/** The text of the object that the event's message is, or ends in. */
function messageObject({ message }: EventFields): string | undefined {
  const text = typeof message === 'string' ? message.trim() : '';
  if (!text.endsWith('}')) return undefined;
  let at = text.indexOf('{');
  for (let tries = 0; at !== -1 && tries < MAX_TRIES; at = text.indexOf('{', at + 1)) {
    if (at > 0 && !/[\s:=\]]/.test(text[at - 1]!)) continue;
    const found = text.slice(at);
    if (isJson(found)) return found;
    tries += 1;
  }
  return undefined;
}

/** Another object begins before it and was not read: the event stays one that shows it (sources/framing/cut-object). */
function isBehindObject({ message }: EventFields, found: string): boolean {
  return typeof message === 'string' && hasObjectLine(message.trim().slice(0, -found.length));
}

/** The object's text with the members of the found one appended, but for keys that it has, or that others give it. */
function withMembers(text: string, event: EventFields, found: string, isTaken: (key: string) => boolean): string {
  const added = rawMembers(found).filter(({ name }) => !Object.hasOwn(event, name) && !isTaken(name));
  const members = added.map(({ json }) => json);
  return append(text, event, members);
}

function pickFrom(found: string, event: EventFields, isTaken: (key: string) => boolean): EventFields {
  const entries = Object.entries(parseExactObject(found) ?? {}).filter(
    ([key]) => !Object.hasOwn(event, key) && !isTaken(key),
  );
  return Object.fromEntries(entries);
}
