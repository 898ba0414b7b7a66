/**
 * The time that a text itself carries, in one of the forms of forms.ts: at the beginning of a line, or as a whole value. The one reader outside of the
 * kernel, whose loops (kernel/assembly/time) read the same table and are held against this one.
 */
import { TIME_FORMS, type TimeForm } from './forms.ts';
import { compileLayout } from './go-layout.ts';
import { LEVEL, timePlaces } from './line-start.ts';
import { type WallTime, wallAsUtc, type Zone } from './zone.ts';
import { type WrittenZone, readZone } from './written-zone.ts';

/** An instant: whole seconds since 1970, and the digits of its fraction, at most nine. */
export interface EventTime {
  readonly second: number;
  readonly fraction: string;
}

/** The context of a time without a zone or a year. */
export interface TimeContext {
  readonly zone: Zone;
  /** Wall clock of the read. */
  readonly readAtMs: number;
  /** Without a year a time is at most so far ahead of it: a day, unless another is given. */
  readonly mostAheadMs?: number;
  /** Gets the name of an unknown zone; a time in front of it is not taken. */
  readonly unknownZone?: ((name: string) => void) | undefined;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const TOKENS: Readonly<Record<string, string>> = {
  2006: '(?<year>\\d{4})',
  '06': '(?<shortYear>\\d\\d)',
  '01': '(?<month>\\d\\d)',
  Jan: `(?<name>${MONTHS.join('|')})`,
  Mon: '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)',
  '02': '(?<day>\\d\\d)',
  2: '(?<day>\\d\\d?)',
  _2: ' ?(?<day>\\d\\d?)',
  15: ' ?(?<hour>\\d\\d?)',
  '04': '(?<minute>\\d\\d)',
  '05': '(?<second>\\d\\d)',
};
const FORMS = TIME_FORMS.map((form) => ({ form, pattern: new RegExp(patternOf(form), 'y') }));

function patternOf({ layout }: TimeForm): string {
  const parts = compileLayout(layout).map((part, index) => {
    if (part.kind === 'token') return TOKENS[part.token]!;
    if (part.text === 'T') return '[Tt]';
    return index === 0 && part.text === 'I' ? '[IWEF]' : part.text.replaceAll('.', '\\.');
  });
  return parts.join('');
}

/** Some write milliseconds after a colon. */
const FRACTION = /[.,](\d+)|:(\d{3})(?!\d)/y;
const MERIDIEM = / ?([AaPp])(?:[Mm]|\.[Mm]\.)(?![A-Za-z\d])/y;
const LATER_FRACTION = /\.(\d+)/y;
const REQUIRED_YEAR = / (\d{4})/y;
/** Not the beginning of a name or of an IPv6 address. */
const YEAR = / ((?:19|20)\d\d)(?![A-Za-z\d]|[._-][A-Za-z\d]|:[^ "\r\n])/y;
const COUNT = /(\d{9,19})(?:\.(\d+))?/y;
const AUDIT_COUNT = /\d{9,10}\.\d{3}(?=:)/y;
const VALUE_END = /(?=[" \t\r\n])|$/y;

const DAY_S = 86_400;
/** 2000-01-01. */
const EARLIEST_S = 946_684_800;

/** The time that a text begins with. `undefined` where it begins with none, or `isTaken` refuses it. */
export function leadingTime(text: string, context: TimeContext): EventTime | undefined {
  const time = leadingOf(text, context);
  return time && isTaken(time, context) ? time : undefined;
}

function leadingOf(text: string, context: TimeContext): EventTime | undefined {
  for (const { at, kind } of timePlaces(text)) {
    if (kind === 'audit') return matchAt(AUDIT_COUNT, text, at) && countAt(text, at)?.time;
    if (kind === 'value') {
      const counted = countAt(text, at);
      if (counted) return matchAt(VALUE_END, text, counted.end) && counted.time;
    }
    const found = readForm(text, at, context, kind === 'slow log' ? 'slow log' : kind === 'form' ? 'line' : 'value');
    if (found !== 'no form') return found?.time;
  }
  return undefined;
}

/** The time that is the whole of a value: text, or a count of s, ms, µs or ns since 1970 by its magnitude. */
export function wholeTime(text: string, context: TimeContext): EventTime | undefined {
  const time = countOrText(text, context, 'value');
  return time && isTaken(time, context) ? time : undefined;
}

/** The same from whatever year, where it was asked for: also in forms that elsewhere need a certain beginning of the line. */
export function anyWholeTime(text: string, context: TimeContext): EventTime | undefined {
  return countOrText(text, context, 'asked for');
}

function countOrText(text: string, context: TimeContext, place: FormPlace): EventTime | undefined {
  const counted = countAt(text, 0);
  return counted?.end === text.length ? counted.time : wholeText(text, context, place);
}

/** The same of a date and clock alone. */
function wholeText(text: string, context: TimeContext, place: FormPlace = 'value'): EventTime | undefined {
  const found = readForm(text, 0, context, place);
  return found !== 'no form' && found?.end === text.length ? found.time : undefined;
}

/** The same, taken. */
export function wholeTextTime(text: string, context: TimeContext): EventTime | undefined {
  const time = wholeText(text, context);
  return time && isTaken(time, context) ? time : undefined;
}

/** The time at a place of a text, from whatever year; undefined without one. */
export function timeAt(text: string, at: number, context: TimeContext): OwnTime | undefined {
  const found = readForm(text, at, context, 'value');
  return found === 'no form' ? undefined : found;
}

/** A time before 2000, or more than a day ahead of the read, is likely none. */
export function isTaken({ second }: EventTime, { readAtMs }: TimeContext): boolean {
  return second >= EARLIEST_S && second <= Math.floor(readAtMs / 1000) + DAY_S;
}

/** RFC 3339 in UTC. For years from 0 to 9999. */
export function formatEventTime({ second, fraction }: EventTime): string {
  const whole = new Date(second * 1000).toISOString().slice(0, 19);
  return fraction === '' ? `${whole}Z` : `${whole}.${fraction}Z`;
}

export interface OwnTime {
  readonly time: EventTime;
  /** Behind the time. */
  readonly end: number;
}

/** A count of s, ms, µs or ns since 1970 at a place of a text. */
export function countAt(text: string, from: number): OwnTime | undefined {
  const [all, whole, more = ''] = matchAt(COUNT, text, from) ?? [];
  if (all === undefined || whole === undefined || /\d/.test(text[from + whole.length] ?? '')) return undefined;
  const tail = whole.length <= 10 ? 0 : whole.length <= 13 ? 3 : whole.length <= 16 ? 6 : 9;
  const at = whole.length - tail;
  return {
    time: { second: Number(whole.slice(0, at)), fraction: (whole.slice(at) + more).slice(0, 9) },
    end: from + all.length,
  };
}

type FormPlace = 'line' | 'value' | 'asked for' | 'slow log';

/** Undefined if a form matches but its time is invalid. */
function readForm(text: string, from: number, context: TimeContext, place: FormPlace): OwnTime | 'no form' | undefined {
  for (const { form, pattern } of FORMS) {
    if (form.behind !== undefined && (place === 'line' || place === 'value')) continue;
    if (form.needs === 'level' && (place === 'value' || place === 'asked for')) continue;
    const match = matchAt(pattern, text, from);
    const wall = match && wallOf(match.groups!);
    if (wall) return finish(text, from + match[0].length, form, wall, context);
  }
  return 'no form';
}

/** Undefined where there is no such date or time. Without a year, 29 February is a date. */
function wallOf({
  year,
  shortYear,
  month,
  name,
  day,
  hour,
  minute,
  second,
}: Record<string, string | undefined>): WallTime | undefined {
  const short = shortYear === undefined ? undefined : Number(shortYear) + (Number(shortYear) >= 69 ? 1900 : 2000);
  const wall = {
    year: year === undefined ? short : Number(year),
    month: name === undefined ? Number(month) : MONTHS.indexOf(name) + 1,
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
  };
  return wallAsUtc(wall, wall.year ?? 2000) === undefined ? undefined : wall;
}

/** Reads the parts after the seconds. */
function finish(
  text: string,
  from: number,
  form: TimeForm,
  clock: WallTime,
  context: TimeContext,
): OwnTime | undefined {
  let end = from;
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    const match = matchAt(pattern, text, end);
    end += match?.[0].length ?? 0;
    return match;
  };
  const fraction = take(FRACTION);
  let digits = fraction?.[1] ?? fraction?.[2] ?? '';
  const meridiem = take(MERIDIEM)?.[1]?.toLowerCase();
  if (meridiem !== undefined) {
    if (clock.hour < 1 || clock.hour > 12) return undefined;
    if (digits === '') digits = take(LATER_FRACTION)?.[1] ?? '';
  }
  let zone: WrittenZone | undefined = readZone(text, end, context);
  if (!zone) return undefined;
  end = zone.end;
  let { year } = clock;
  if (year === undefined) {
    const found = take(form.needs === 'year' ? REQUIRED_YEAR : YEAR)?.[1];
    if (found === undefined && form.needs === 'year') return undefined;
    year = found === undefined ? undefined : Number(found);
    if (year !== undefined && zone.zone === undefined) {
      zone = readZone(text, end, context);
      if (!zone) return undefined;
      end = zone.end;
    }
  }
  if (/[A-Za-z\d]/.test(text[end] ?? '')) return undefined;
  if (form.needs === 'fraction' && digits.length < 3) return undefined;
  if (form.needs === 'level' && !(text[end] === ' ' && matchAt(LEVEL, text, end + 1))) return undefined;
  const hour = meridiem === undefined ? clock.hour : (clock.hour % 12) + (meridiem === 'p' ? 12 : 0);
  const written = zone.zone ?? (form.isUtc ? 0 : context.zone);
  const wall = { ...clock, year, hour };
  const instant =
    typeof written === 'number'
      ? context.zone.toInstant(wall, context.readAtMs, written * 1000, context.mostAheadMs)
      : written.toInstant(wall, context.readAtMs, undefined, context.mostAheadMs);
  return instant === undefined ? undefined : { time: { second: instant / 1000, fraction: digits.slice(0, 9) }, end };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}
