/** Times whose place or format the configuration names: read as text, to RFC 3339 in UTC. */
import { abbreviationOffset } from '../../core/time/abbreviations.ts';
import { compileLayout, parseLayout } from '../../core/time/go-layout.ts';
import { anyWholeTime, type EventTime, formatEventTime, leadingTime } from '../../core/time/own-time.ts';
import { wallOf, type Zone } from '../../core/time/zone.ts';

/** The range of times that services hold: 1900 to 2262. */
const EARLIEST_S = -2_208_988_800;
const LATEST_S = 9_223_372_036;
const DAY_S = 86_400;

export interface GivenTimeRules {
  /** `auto`, `unix`, `unixms`, `unixus`, `unixnano` or a Go layout. */
  readonly format: string;
  readonly zone: Zone;
  /** A value, such as the end of a certificate, not the time of an event: that is at most a day ahead of the read. */
  readonly mayBeAhead?: boolean;
}

/** Readers of a whole value, and of the time that a text begins with (after `[`); undefined without a time. */
export interface GivenTime {
  whole(text: string, readAtMs: number): string | undefined;
  leading(text: string, readAtMs: number): string | undefined;
}

/** Each unit's decimal places of a second. */
const UNITS: Readonly<Record<string, number>> = { unix: 0, unixms: 3, unixus: 6, unixnano: 9 };

export function createGivenTime({ format, zone, mayBeAhead = false }: GivenTimeRules): GivenTime {
  const asText = (time: EventTime | undefined, readAtMs: number): string | undefined => {
    const latest = mayBeAhead ? LATEST_S : Math.floor(readAtMs / 1000) + DAY_S;
    return time && time.second >= EARLIEST_S && time.second <= latest ? formatEventTime(time) : undefined;
  };
  if (format === 'auto') {
    return {
      whole: (text, readAtMs) => asText(anyWholeTime(text, { zone, readAtMs }), readAtMs),
      leading: (text, readAtMs) => asText(leadingTime(text, { zone, readAtMs }), readAtMs),
    };
  }
  const digits = UNITS[format];
  if (digits !== undefined) {
    return {
      whole: (text, readAtMs) => asText(readCount(text, digits), readAtMs),
      leading: (text, readAtMs) =>
        asText(readCount(/^\[?(-?\d+(?:\.\d+)?)(?![\w.])/.exec(text)?.[1] ?? '', digits), readAtMs),
    };
  }
  const parts = compileLayout(format);
  const read = (text: string, readAtMs: number, mayGoOn: boolean): string | undefined => {
    const found = parseLayout(parts, text, mayGoOn);
    if (typeof found === 'string' || (mayGoOn && /[A-Za-z\d]/.test(text[found.end] ?? ''))) return undefined;
    const { ms, ns, hasOffset, zoneName } = found;
    const named = zoneName === undefined ? undefined : offsetOf(zoneName, zone);
    if (named === null) return undefined;
    const wall = wallOf(Math.floor(ms / 1000) * 1000);
    const instant = hasOffset && wall.year !== undefined ? ms : zone.toInstant(wall, readAtMs, hasOffset ? 0 : named);
    if (instant === undefined) return undefined;
    const fraction = `${String(((ms % 1000) + 1000) % 1000).padStart(3, '0')}${String(ns).padStart(6, '0')}`.replace(
      /0{1,9}$/,
      '',
    );
    return asText({ second: Math.floor(instant / 1000), fraction }, readAtMs);
  };
  return {
    whole: (text, readAtMs) => read(text, readAtMs, false),
    leading: (text, readAtMs) => read(text.startsWith('[') ? text.slice(1) : text, readAtMs, true),
  };
}

/** The offset of a zone's name in milliseconds; null if it is unknown. Some write hours for a zone without a name. */
function offsetOf(name: string, zone: Zone): number | null {
  if (/\d/.test(name)) return Number(name) * 3_600_000;
  const seconds = abbreviationOffset(name, zone.name);
  return typeof seconds === 'number' ? seconds * 1000 : null;
}

/** A decimal count of units, exactly. */
function readCount(text: string, digits: number): EventTime | undefined {
  const [, sign, whole, more = ''] = /^(-?)(\d{1,20})(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const padded = whole.padStart(digits + 1, '0');
  const at = padded.length - digits;
  const second = Number(padded.slice(0, at));
  const fraction = (padded.slice(at) + more).slice(0, 9);
  if (sign !== '-') return { second, fraction };
  // A fraction counts forward from its second, whatever the sign.
  const rest = Number(fraction.padEnd(9, '0'));
  return rest === 0
    ? { second: -second, fraction: '' }
    : { second: -second - 1, fraction: String(1_000_000_000 - rest).padStart(9, '0') };
}
