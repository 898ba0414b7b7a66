/** The systemd unit that this process runs in: its entries would feed themselves. */
import { readFileSync } from 'node:fs';

/** Undefined outside of a unit. */
export function ownUnit(file = '/proc/self/cgroup'): string | undefined {
  try {
    return /\/([^/\n]+\.service)(?:\/[^\n]*)?$/m.exec(readFileSync(file, 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}

/** Whether the configuration names the unit, as systemd takes names: without an ending it is a service. */
export function isNamed(unit: string, units: readonly string[]): boolean {
  return units.some((each) => unit === (each.includes('.') ? each : `${each}.service`));
}
