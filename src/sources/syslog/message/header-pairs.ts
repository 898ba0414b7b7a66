/** Time and host of messages that have no header but `name=value` pairs: FortiGate, SonicWall, Sophos, Check Point. */
import type { Zone } from '../../../core/time/zone.ts';
import { MAX_HEAD_BYTES } from '../limits.ts';
import { readPairs } from './bodies.ts';
import { readSentTime, TEXT_END } from './sent-time.ts';

const OFFSET = /([+-])(\d{1,2}):?(\d\d)/;
const HAS_ZONE = /Z$|[A-Z]{2,5}$|\d[+-]\d\d:?\d\d$/;
const MOST_OFFSET_S = 14 * 3600;
const QUARTER_S = 900;

interface PairsHeader {
  readonly host: string | undefined;
  readonly time?: string | undefined;
  readonly timeError?: string | undefined;
}

/** `text` is the beginning of a message, of which the last pair may be cut. */
export function readPairsHeader(text: string, receivedAtMs: number, zone: Zone, host: string | undefined): PairsHeader {
  const fields = readPairs(
    text.length < MAX_HEAD_BYTES / 2 ? text : text.slice(0, text.lastIndexOf(text.includes(' ') ? ' ' : '|')),
  );
  const pairs = new Map(
    Object.entries(fields).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : [])),
  );
  const named = host ?? pairs.get('devname') ?? pairs.get('hostname') ?? pairs.get('fw');
  const [date, clock] = [pairs.get('date'), pairs.get('time')];
  const wall =
    date !== undefined && clock !== undefined
      ? `${date} ${clock}`
      : (pairs.get('timestamp') ?? pairs.get('start_time') ?? clock);
  if (wall === undefined) return { host: named };
  const written = `${wall}${HAS_ZONE.test(wall) ? '' : zoneOf(pairs)}`;
  const sent = readSentTime(written, 0, TEXT_END, receivedAtMs, zone);
  const exact = written === wall && date !== undefined ? eventTime(pairs, wall, receivedAtMs, zone) : undefined;
  return {
    host: named,
    time: exact ?? sent?.time,
    ...(sent?.time === undefined && exact === undefined && { timeError: sent?.timeError ?? written }),
  };
}

/** `-0500`, `(GMT-5:00)Eastern`, `CET`. */
function zoneOf(pairs: ReadonlyMap<string, string>): string {
  const name = pairs.get('tz') ?? pairs.get('timezone') ?? '';
  const [, sign, hours, minutes] = OFFSET.exec(name) ?? [];
  if (sign !== undefined) return `${sign}${hours!.padStart(2, '0')}:${minutes}`;
  return name === '' ? '' : ` ${name}`;
}

/** The count of FortiGate beside a clock without a zone, where it says the same: it differs by an offset that there is. */
function eventTime(
  pairs: ReadonlyMap<string, string>,
  wall: string,
  receivedAtMs: number,
  zone: Zone,
): string | undefined {
  const count = pairs.get('eventtime');
  const time = count === undefined ? undefined : readSentTime(count, 0, TEXT_END, receivedAtMs, zone)?.time;
  if (time === undefined) return undefined;
  const seconds = Math.abs(Date.parse(`${wall.replace(' ', 'T')}Z`) - Date.parse(time)) / 1000;
  const rest = seconds % QUARTER_S;
  return seconds <= MOST_OFFSET_S && Math.min(rest, QUARTER_S - rest) <= 2 ? time : undefined;
}
