/** What the page shows, as the part of its address behind `#`: a link brings it back. A token is taken from there once and removed. */

export interface LinkState {
  readonly query: string;
  /** A name of `RANGES`, or `from/to` in milliseconds. */
  readonly range: string;
}

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
    range: range in RANGES || absoluteRange(range) ? range : DEFAULT_RANGE,
    token: parts.get('token') ?? '',
  };
}

export function writeLink({ query, range }: LinkState): void {
  const parts = new URLSearchParams({ ...(query === '' ? {} : { query }), ...(range === DEFAULT_RANGE ? {} : { range }) }).toString();
  history.replaceState(null, '', parts === '' ? location.pathname : `#${parts}`);
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
