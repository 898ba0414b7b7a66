/**
 * Finds events that hold the text of a JSON object which was not read as one: cut, invalid, or a part of a longer line. A pipeline that hides fields
 * cannot see into them (RULES 29). Asked only where a pipeline hides fields.
 */
import type { Block, EventShape } from '../../core/block.ts';
import { hasObjectInside, hasObjectLine } from '../../core/bytes/object-text.ts';
import { eventStarts } from '../block-events.ts';

/** How every event begins that is made of a text. */
const BEGINNING = Buffer.from('{"_time":"');
const BEHIND_TIME = Buffer.from('","message":"');
const NEWLINE = 0x0a;
const QUOTE = 0x22;
const SPACE = 0x20;

/** Numbers among the `count` events that were made of the block from `start` on; `events` is NDJSON. */
export function findCutObjects(block: Block, start: number, events: Buffer, count: number): ReadonlySet<number> {
  const found = new Set<number>();
  const { shape, unread } = block;
  let starts: readonly number[] | undefined;
  const startOf = (event: number): number => (starts ??= eventStarts(block, start, count))[event]!;
  if (unread) for (let n = 0; n < count; n++) if (unread.includes(startOf(n))) found.add(n);
  if (shape.format === 'text' || shape.objects === 'none') return found;
  for (let n = 0, at = 0; n < count; n++) {
    const end = events.indexOf(NEWLINE, at);
    if (mayHoldObject(block, events, at) && isCut(block, events.subarray(at, end), () => startOf(n))) found.add(n);
    at = end + 1;
  }
  return found;
}

/** By the first byte of its message, where the event is one line: most texts begin with a digit or a letter. */
function mayHoldObject({ ends, shape }: Block, events: Buffer, at: number): boolean {
  if (!isAt(events, at, BEGINNING)) return false;
  const timeEnd = events.indexOf(QUOTE, at + BEGINNING.length);
  if (!isAt(events, timeEnd, BEHIND_TIME)) return false;
  if (ends || shape.objects !== undefined) return true;
  const first = events[timeEnd + BEHIND_TIME.length]!;
  return first === 0x7b || first === SPACE || first === 0x5c || first === 0xef;
}

function isCut(block: Block, bytes: Buffer, startOf: () => number): boolean {
  const event = JSON.parse(bytes.toString()) as Readonly<Record<string, unknown>>;
  const { message } = event;
  const { objects } = block.shape;
  if (typeof message !== 'string') return false;
  if (objects === undefined || objects === 'cri')
    return hasObjectLine(message, objects === 'cri' ? 'cri' : 'none') && !isPassed(block, bytes, startOf());
  return isUnreadMessage(event, message, objects);
}

/** The line itself is the event, with members behind its own: its message is a value of the object. */
function isPassed({ window, single }: Block, bytes: Buffer, start: number): boolean {
  if (single?.marks) return false;
  let from = start;
  while (window.bytes[from]! <= SPACE && window.bytes[from] !== NEWLINE) from++;
  let to = window.bytes.indexOf(NEWLINE, from);
  while (window.bytes[to - 1]! <= SPACE) to--;
  const length = to - 1 - from;
  return length > 0 && length <= bytes.length && bytes.compare(window.bytes, from, to - 1, 0, length) === 0;
}

/** Of a syslog message, by the rules of its `parse_json`. */
function isUnreadMessage(
  event: Readonly<Record<string, unknown>>,
  message: string,
  objects: NonNullable<EventShape['objects']>,
): boolean {
  // Where its header could not be read, the message begins somewhere in the text.
  const isHere = Object.hasOwn(event, 'parse_error') ? hasObjectInside(message) : hasObjectLine(message, 'cookie');
  if (!isHere) return false;
  if (['parse_error', 'part', 'truncated'].some((name) => Object.hasOwn(event, name))) return true;
  if (objects === 'cee' && !message.trimStart().startsWith('@cee:')) return false;
  return objects === 'fields' ? !isObject(message) : !Object.hasOwn(event, 'json');
}

function isObject(message: string): boolean {
  try {
    JSON.parse(message.slice(message.indexOf('{')));
    return true;
  } catch {
    return false;
  }
}

function isAt(bytes: Buffer, at: number, wanted: Buffer): boolean {
  if (at < 0 || at + wanted.length > bytes.length) return false;
  for (let n = 0; n < wanted.length; n++) if (bytes[at + n] !== wanted[n]) return false;
  return true;
}
