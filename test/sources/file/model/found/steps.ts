/** What a found schedule is, and the steps that many of them have. */
import type { Event } from '../events.ts';

export interface Found {
  /** The fault, or the behaviour that must stay right. */
  readonly name: string;
  readonly include?: string;
  readonly schedule: readonly Event[];
}

export const [scan, wait, deliver, restart, kill] = [
  { kind: 'scan' },
  { kind: 'wait' },
  { kind: 'deliver' },
  { kind: 'restart' },
  { kind: 'kill', after: 0 },
] as const;
export const one = { kind: 'append', file: 0, lines: 1 } as const;
/** More than the sink takes while it hangs. */
export const flood = [
  { kind: 'hang' },
  { kind: 'append', file: 0, lines: 150 },
  { kind: 'append', file: 0, lines: 150 },
  scan,
] as const;
