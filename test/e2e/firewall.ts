/** A web application firewall: what it answers, and lines of which some offend it. */
import { listDeadLetters, QUICK, type Site } from '../support/shipping.ts';

export const PAGE =
  '<!DOCTYPE html><html><head><title>Attack detected</title></head><body>Your request 4711 was blocked</body></html>';
export const MINUTE = 60_000;
export const SINK = `${QUICK}, batch: {max_age: 50ms, max_events: 20}`;

export const lineOf = (poison: ReadonlySet<number>) => (seq: number) =>
  `{"seq":${seq},"q":"${poison.has(seq) ? 'union select' : 'x'}"}`;
export const firewall = ({ events }: { readonly events: readonly string[] }) =>
  events.some((event) => event.includes('union select'))
    ? { status: 403, headers: { 'content-type': 'text/html' }, body: PAGE }
    : undefined;

export const listed = async (site: Site): Promise<number[]> => (await listDeadLetters(site)).map(({ seq }) => seq);
