/** The zones of times whose offsets are ambiguous, so that the times are not taken: for `check` and `init`, which name them. */
import { TIME_KEYS } from '../../core/time/forms.ts';
import { leadingTime, wholeTime } from '../../core/time/own-time.ts';
import { createZone } from '../../core/time/zone.ts';

/** `zoneName`: the configured one. When they were read is no matter. */
export function unknownZonesIn(event: Readonly<Record<string, unknown>>, zoneName: string): ReadonlySet<string> {
  const found = new Set<string>();
  const context = { zone: createZone(zoneName), readAtMs: 0, unknownZone: (name: string) => void found.add(name) };
  const { message, time_error: error } = event;
  for (const value of [error, ...TIME_KEYS.map((key) => event[key])])
    if (typeof value === 'string') wholeTime(value, context);
  if (typeof message === 'string') leadingTime(message, context);
  return found;
}
