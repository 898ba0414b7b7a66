/**
 * Go's reference layouts (`Mon Jan 2 15:04:05 -0700 MST 2006`): a layout is compiled once, and reads times from then on.
 * As Go's time.Parse: text that is no token must match literally, and a fraction may follow the seconds though the layout names none.
 */
import { MONTH_NAMES } from './calendar.ts';
import { daysOf, epochMs } from './time-text.ts';

export type LayoutPart =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'token'; readonly token: string };

/** Longest first where one begins another. */
const TOKENS = [
  'January',
  'Monday',
  'Z07:00:00',
  '-07:00:00',
  'Z070000',
  '-070000',
  'Z07:00',
  '-07:00',
  'Z0700',
  '-0700',
  '2006',
  '002',
  '__2',
  'Jan',
  'Mon',
  'MST',
  'Z07',
  '-07',
  '01',
  '02',
  '03',
  '04',
  '05',
  '06',
  '15',
  '_2',
  'PM',
  'pm',
  '1',
  '2',
  '3',
  '4',
  '5',
];
/** The parts of a layout. Never fails: a layout without tokens is text to match. */
export function compileLayout(layout: string): readonly LayoutPart[] {
  const parts: LayoutPart[] = [];
  let literal = '';
  for (let at = 0; at < layout.length;) {
    const token = tokenAt(layout, at);
    if (token === undefined) {
      literal += layout[at++];
      continue;
    }
    if (literal) parts.push({ kind: 'literal', text: literal });
    literal = '';
    parts.push({ kind: 'token', token });
    at += token.length;
  }
  if (literal) parts.push({ kind: 'literal', text: literal });
  return parts;
}

function tokenAt(layout: string, at: number): string | undefined {
  // A fraction: a point or comma, then only zeros or only nines, then no digit (Go: `.000`, `,999`).
  const fraction = /^[.,](0+|9+)(?!\d)/.exec(layout.slice(at, at + 12));
  if (fraction) return fraction[0];
  // `_2006` is an underscore and the year, not `_2` and `006`.
  const token = TOKENS.find((t) => layout.startsWith(t, at) && !(t === '_2' && layout.startsWith('_2006', at)));
  // Go reads `Jan` and `Mon` only where no lower-case letter follows (`Month` is text).
  if ((token === 'Jan' || token === 'Mon') && /[a-z]/.test(layout[at + 3] ?? '')) return undefined;
  return token;
}

/** The zone's abbreviation in a layout, which Go takes for UTC nearly always; undefined without one. */
export function zoneNameIn(layout: string): string | undefined {
  const parts = compileLayout(layout);
  if (parts.some((part) => part.kind === 'token' && part.token === 'MST')) return 'MST';
  for (const part of parts) {
    const name = part.kind === 'literal' ? /\b(?!GMT\b)(?:[A-Z]{2,4}T|MSK)\b/.exec(part.text)?.[0] : undefined;
    if (name !== undefined) return name;
  }
  return undefined;
}

/** Milliseconds since 1970 and the nanoseconds (0…999,999) within the millisecond. */
export interface Instant {
  readonly ms: number;
  readonly ns: number;
  /** False where the text has no offset: `ms` is then the wall clock's, read as UTC. */
  readonly hasOffset: boolean;
  /** The letters in place of the layout's `MST`. */
  readonly zoneName: string | undefined;
  /** Where the time ends in the text. */
  readonly end: number;
}

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/**
 * The instant that `text` names under the layout, or the reason why it names none. Without a zone it is UTC, without a year that of 0.
 * `mayGoOn`: what follows in the text is no matter.
 */
export function parseLayout(parts: readonly LayoutPart[], text: string, mayGoOn = false): Instant | string {
  let [year, month, day, hour, minute, second, nanos, offset] = [0, 1, 1, 0, 0, 0, 0, 0];
  let yearDay = 0;
  let afternoon: boolean | undefined;
  let hasOffset = false;
  let zoneName: string | undefined;
  let rest = text;

  /** Takes a number of `min` to `max` digits within bounds, or returns NaN. */
  const digits = (min: number, max: number, low: number, high: number): number => {
    let n = 0;
    while (n < max && rest[n] !== undefined && rest[n]! >= '0' && rest[n]! <= '9') n++;
    const value = n < min ? Number.NaN : Number(rest.slice(0, n));
    rest = rest.slice(n);
    return value >= low && value <= high ? value : Number.NaN;
  };
  const name = (names: readonly string[], short: boolean): number => {
    const index = names.findIndex((n) => rest.toLowerCase().startsWith(short ? n.slice(0, 3) : n));
    if (index >= 0) rest = rest.slice(short ? 3 : names[index]!.length);
    return index >= 0 ? index + 1 : Number.NaN;
  };
  const fraction = (): void => {
    const found = /^[.,](\d+)/.exec(rest);
    if (!found) return;
    nanos = Number(found[1]!.slice(0, 9).padEnd(9, '0'));
    rest = rest.slice(found[0].length);
  };
  const zone = (token: string): number => {
    if (token.startsWith('Z') && rest.startsWith('Z')) {
      rest = rest.slice(1);
      return 0;
    }
    const shape = token.slice(1).replace(/\d\d/g, '(\\d\\d)');
    const found = new RegExp(`^([+-])${shape}`).exec(rest);
    if (!found) return Number.NaN;
    rest = rest.slice(found[0].length);
    const [hours, minutes, seconds] = [Number(found[2]), Number(found[3] ?? 0), Number(found[4] ?? 0)];
    if (hours > 24 || minutes > 59 || seconds > 59) return Number.NaN;
    return (found[1] === '-' ? -1 : 1) * (hours * 3600 + minutes * 60 + seconds);
  };

  for (const [index, part] of parts.entries()) {
    if (part.kind === 'literal') {
      if (!rest.startsWith(part.text)) return `cannot read ${JSON.stringify(rest)} as ${JSON.stringify(part.text)}`;
      rest = rest.slice(part.text.length);
      continue;
    }
    const at = rest;
    let value = 0;
    switch (part.token) {
      case '2006':
        value = year = digits(4, 4, 0, 9999);
        break;
      case '06':
        value = year = digits(2, 2, 0, 99);
        year += year >= 69 ? 1900 : 2000;
        break;
      case '01':
        value = month = digits(2, 2, 1, 12);
        break;
      case '1':
        value = month = digits(1, 2, 1, 12);
        break;
      case 'January':
        value = month = name(MONTH_NAMES, false);
        break;
      case 'Jan':
        value = month = name(MONTH_NAMES, true);
        break;
      case 'Monday':
        value = name(DAYS, false);
        break;
      case 'Mon':
        value = name(DAYS, true);
        break;
      case '02':
        value = day = digits(2, 2, 1, 31);
        break;
      case '_2':
        if (rest.startsWith(' ')) rest = rest.slice(1);
        value = day = digits(1, 2, 1, 31);
        break;
      case '2':
        value = day = digits(1, 2, 1, 31);
        break;
      case '002':
        value = yearDay = digits(3, 3, 1, 366);
        break;
      case '__2':
        rest = rest.trimStart();
        value = yearDay = digits(1, 3, 1, 366);
        break;
      case '15':
        value = hour = digits(1, 2, 0, 23);
        break;
      case '03':
        value = hour = digits(2, 2, 0, 12);
        break;
      case '3':
        value = hour = digits(1, 2, 0, 12);
        break;
      case '04':
        value = minute = digits(2, 2, 0, 59);
        break;
      case '4':
        value = minute = digits(1, 2, 0, 59);
        break;
      case '05':
      case '5': {
        value = second = digits(part.token === '05' ? 2 : 1, 2, 0, 59);
        const next = parts[index + 1];
        if (!(next?.kind === 'token' && /^[.,]/.test(next.token))) fraction();
        break;
      }
      case 'PM':
      case 'pm': {
        const mark = rest.slice(0, 2);
        value = mark === (part.token === 'PM' ? 'AM' : 'am') ? 0 : mark === part.token ? 1 : Number.NaN;
        afternoon = value === 1;
        rest = rest.slice(2);
        break;
      }
      case 'MST': {
        const found = /^(?:[A-Z]{3,5}(?![A-Za-z])|[+-]\d\d(?!\d))/.exec(rest);
        value = found ? 0 : Number.NaN;
        zoneName = found?.[0];
        rest = rest.slice(found?.[0].length ?? 0);
        break;
      }
      default:
        if (/^[.,]/.test(part.token)) {
          const exact = part.token[1] === '0' ? part.token.length - 1 : undefined;
          const found = /^[.,](\d+)/.exec(rest);
          if (exact !== undefined && found?.[1]?.length !== exact) value = Number.NaN;
          fraction();
        } else {
          value = offset = zone(part.token);
          hasOffset = true;
        }
    }
    if (Number.isNaN(value)) return `cannot read ${JSON.stringify(at)} as ${JSON.stringify(part.token)}`;
  }
  const end = text.length - rest.length;
  if (rest && !mayGoOn) return `extra text ${JSON.stringify(rest)}`;
  if (afternoon !== undefined) hour = (hour % 12) + (afternoon ? 12 : 0);
  if (yearDay) [month, day] = [1, yearDay];
  else if (day > daysOf(year, month)) return `day ${day} is not in month ${month}`;
  return {
    ms: epochMs(year, month, day, hour, minute, second, Math.floor(nanos / 1e6)) - offset * 1000,
    ns: nanos % 1e6,
    hasOffset,
    zoneName,
    end,
  };
}
