/** Reads the zone after a clock: an offset, an abbreviation, an IANA name. The kernel's copy is assembly/time/written-zone.ts. */
import { abbreviationOffset } from './abbreviations.ts';
import { namedZone, type Zone } from './zone.ts';

export interface WrittenZone {
  /** Behind it. */
  readonly end: number;
  /** Its offset in seconds, or the zone that it names; undefined without one. */
  readonly zone?: number | Zone;
}

interface ZoneContext {
  readonly zone: Zone;
  readonly unknownZone?: ((name: string) => void) | undefined;
}

const UTC_LETTER = /[Zz]/y;
const OFFSET = /([+-])(?=\d)(?:(\d\d)(?::?(\d\d)(?![A-Za-z\d])|(?!:?\d|[A-Za-z])))?/y;
/** With a space before it, two digits may be another number, such as that of a message. */
const SPACED_OFFSET = / ([+-])(?:(\d\d):?(\d\d)|(0\d|1[0-4]))(?![A-Za-z\d]|[.:]\d)/y;
const BRACKETED_OFFSET = / (?:\[([+-])(\d\d):?(\d\d)\]|\(([+-])(\d\d):?(\d\d)\))/y;
const AREAS =
  'Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Brazil|Canada|Chile|Etc|Europe|Indian|Mexico|Pacific|US';
const NAME = `(?:${AREAS})/[A-Za-z0-9_+/-]{1,32}`;
const SPACED_NAME = new RegExp(` (${NAME})(?![A-Za-z0-9_+/-])`, 'y');
/** Behind an offset it only tells where that comes from. */
const BRACKETED_NAME = new RegExp(`\\[(${NAME}|UTC|GMT|Z)\\]`, 'y');
const WORD = / ([A-Z]{1,5})(?![A-Za-z\d_/])/y;
const BRACKETED_WORD = / \(([A-Z]{1,5})\)/y;
const UTC_OFFSET = / (?:UTC|GMT)([+-])(?=\d)(?:(\d{1,2})(?::?(\d\d))?(?![A-Za-z\d]))?/y;

/** Undefined if no such zone exists or it is unknown. */
export function readZone(text: string, at: number, context: ZoneContext): WrittenZone | undefined {
  if (matchAt(UTC_LETTER, text, at)) return behindOffset(text, at + 1, 0);
  const offset = matchAt(OFFSET, text, at);
  if (offset)
    return behindOffset(
      text,
      at + offset[0].length,
      offset[2] === undefined ? undefined : offsetOf(offset[1], offset[2], offset[3]),
    );
  const bracketed = matchAt(BRACKETED_NAME, text, at);
  if (bracketed) return named(bracketed[1]!, at + bracketed[0].length, context);
  if (text[at] !== ' ') return { end: at };
  const spaced = matchAt(SPACED_OFFSET, text, at);
  if (spaced) return orNone(at, spaced[0].length, offsetOf(spaced[1], spaced[2] ?? spaced[4]!, spaced[3]));
  const inBrackets = matchAt(BRACKETED_OFFSET, text, at);
  if (inBrackets) {
    const [all, sign, hours, minutes, otherSign, otherHours, otherMinutes] = inBrackets;
    return orNone(at, all.length, offsetOf(sign ?? otherSign, hours ?? otherHours!, minutes ?? otherMinutes));
  }
  const fromUtc = matchAt(UTC_OFFSET, text, at);
  if (fromUtc)
    return behindOffset(
      text,
      at + fromUtc[0].length,
      fromUtc[2] === undefined ? undefined : offsetOf(fromUtc[1], fromUtc[2], fromUtc[3]),
    );
  const name = matchAt(SPACED_NAME, text, at);
  if (name) return named(name[1]!, at + name[0].length, context);
  const word = matchAt(WORD, text, at) ?? matchAt(BRACKETED_WORD, text, at);
  return word ? abbreviated(word[1]!, at, word[0].length, context) : { end: at };
}

function abbreviated(
  name: string,
  at: number,
  length: number,
  { zone, unknownZone }: ZoneContext,
): WrittenZone | undefined {
  const offset = name === 'Z' ? 0 : abbreviationOffset(name, zone.name);
  if (offset !== 'unknown') return orNone(at, length, offset);
  unknownZone?.(name);
  return undefined;
}

function named(name: string, end: number, { unknownZone }: ZoneContext): WrittenZone | undefined {
  const zone = name === 'UTC' || name === 'GMT' || name === 'Z' ? 0 : namedZone(name);
  if (zone !== undefined) return { end, zone };
  unknownZone?.(name);
  return undefined;
}

/** Two digits and a sign that are no offset are other text. */
function orNone(at: number, length: number, zone: number | undefined): WrittenZone {
  return zone === undefined ? { end: at } : { end: at + length, zone };
}

function behindOffset(text: string, end: number, zone: number | undefined): WrittenZone | undefined {
  if (zone === undefined) return undefined;
  return { end: end + (matchAt(BRACKETED_NAME, text, end)?.[0].length ?? 0), zone };
}

function offsetOf(sign: string | undefined, hours: string, minutes = '0'): number | undefined {
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60);
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}
