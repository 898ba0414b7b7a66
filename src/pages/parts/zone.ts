/** The one zone that a page shows times in: the reader's own, or UTC. The choice is the reader's, kept in the browser; no link changes it. */

export type ShownZone = 'local' | 'UTC';

const KEPT = 'tailrace-zone';
/** As a text of the same form in every zone: `2026-01-15 03:19:30`. */
const formats: Partial<Record<ShownZone, Intl.DateTimeFormat>> = {};

let zone: ShownZone = localStorage.getItem(KEPT) === 'UTC' ? 'UTC' : 'local';

export const currentZone = (): ShownZone => zone;

export function keepZone(next: ShownZone): void {
  zone = next;
  if (next === 'local') localStorage.removeItem(KEPT);
  else localStorage.setItem(KEPT, next);
}

/** As the tz database has it. */
export function zoneName(of: ShownZone = zone): string {
  return of === 'UTC' ? 'UTC' : new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Day and time of day, to the second. */
export function stampOf(ms: number): string {
  const format = (formats[zone] ??= new Intl.DateTimeFormat('sv-SE', {
    ...(zone === 'UTC' ? { timeZone: 'UTC' } : {}),
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  }));
  return Number.isFinite(ms) ? format.format(ms) : '';
}

/** Milliseconds of a time without a zone, such as `2026-01-15T03:19:30`; NaN for none. */
export function parseInZone(text: string): number {
  return Date.parse(zone === 'UTC' ? `${text}Z` : text);
}
