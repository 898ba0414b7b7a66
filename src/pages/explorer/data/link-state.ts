/** What the page shows, as the part of its address behind `#`: a link brings it back, and so does the browser's way back. A token is taken from there once and removed. */
import { formatTime } from '../../parts/format.ts';
import type { KeptQuery } from './api.ts';

export interface LinkState extends KeptQuery {
  /** Events are shown as they are stored. */
  readonly isLive: boolean;
  /** The cursor of the event that is opened; empty for none. */
  readonly event: string;
}

const MOST_COLUMNS = 100;

export const RANGES = {
  '15m': 'Last 15 minutes',
  '1h': 'Last hour',
  '6h': 'Last 6 hours',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  all: 'All time',
} as const;

export const DEFAULT_RANGE = '24h';

export function readLink(): LinkState & { readonly token: string } {
  const parts = new URLSearchParams(location.hash.slice(1));
  const range = parts.get('range') ?? DEFAULT_RANGE;
  return {
    query: parts.get('query') ?? '',
    range: isRange(range) ? range : DEFAULT_RANGE,
    isLive: parts.get('live') === '1',
    columns: parts.getAll('column').slice(0, MOST_COLUMNS),
    event: parts.get('event') ?? '',
    token: parts.get('token') ?? '',
  };
}

/** `isStep`: the browser's way back leads to the earlier view. */
export function writeLink({ query, range, isLive, columns, event }: LinkState, isStep = false): void {
  const parts = new URLSearchParams({
    ...(query === '' ? {} : { query }),
    ...(range === DEFAULT_RANGE ? {} : { range }),
    ...(isLive ? { live: '1' } : {}),
    ...(event === '' ? {} : { event }),
  });
  for (const name of columns.slice(0, MOST_COLUMNS)) parts.append('column', name);
  const address = parts.size === 0 ? location.pathname : `#${parts.toString()}`;
  if (isStep && location.hash !== address) history.pushState(null, '', address);
  else history.replaceState(null, '', address);
}

export function isRange(text: unknown): text is string {
  return typeof text === 'string' && (Object.hasOwn(RANGES, text) || absoluteRange(text) !== undefined);
}

/** In the words of the picker. */
export function nameRange(range: string): string {
  const absolute = absoluteRange(range);
  return absolute ? `${formatTime(absolute[0])} – ${formatTime(absolute[1])}` : RANGES[range as keyof typeof RANGES];
}

export function absoluteRange(range: string): readonly [from: number, to: number] | undefined {
  const [, from, to] = /^(\d{1,15})\/(\d{1,15})$/.exec(range) ?? [];
  return from === undefined || to === undefined ? undefined : [Number(from), Number(to)];
}

/** As a query takes it. */
export function toQueryRange(range: string): { readonly startTime: string; readonly endTime: string } {
  const absolute = absoluteRange(range);
  if (absolute) return { startTime: new Date(absolute[0]).toISOString(), endTime: new Date(absolute[1]).toISOString() };
  return { startTime: range === 'all' ? '1970-01-01T00:00:00Z' : `now-${range}`, endTime: 'now' };
}

/** When the range begins and ends, in milliseconds. */
export function boundsOf(range: string, nowMs: number): readonly [from: number, to: number] {
  const length = lengthOf(range);
  return absoluteRange(range) ?? [length === undefined ? 0 : nowMs - length, nowMs];
}

/** A range as long as this one, at whose end this time is. */
export function rangeUpTo(range: string, ms: number): string {
  const absolute = absoluteRange(range);
  const length = absolute ? absolute[1] - absolute[0] : (lengthOf(range) ?? lengthOf(DEFAULT_RANGE)!);
  const to = Math.floor(ms) + 1000;
  return `${Math.max(0, to - length)}/${to}`;
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Undefined for all times. */
function lengthOf(range: string): number | undefined {
  const [, count, unit = ''] = /^(\d+)([mhd])$/.exec(range) ?? [];
  return count === undefined ? undefined : Number(count) * UNITS[unit]!;
}
