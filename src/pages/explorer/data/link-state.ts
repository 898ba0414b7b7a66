/** What the page shows, as the part of its address behind `#`: a link brings it back, and so does the browser's way back. A token is taken from there once and removed. */

export interface LinkState {
  readonly query: string;
  /** A name of `RANGES`, or `from/to` in milliseconds. */
  readonly range: string;
  /** Events are shown as they are stored. */
  readonly isLive: boolean;
  /** Those that were chosen; none for those that the page chooses. */
  readonly columns: readonly string[];
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
    range: Object.hasOwn(RANGES, range) || absoluteRange(range) ? range : DEFAULT_RANGE,
    isLive: parts.get('live') === '1',
    columns: parts.getAll('column').slice(0, MOST_COLUMNS),
    event: parts.get('event') ?? '',
    token: parts.get('token') ?? '',
  };
}

/** `isStep`: the browser's way back leads to what was shown before. */
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
