/**
 * The agent as a process that permissions hold for. Where the suite runs as root that is root without its capabilities:
 * another user might not be allowed into the checkout.
 */
import { findProgram } from './installed.ts';
import { BINARY, type Program, startCommand } from './program.ts';

const isRoot = process.getuid?.() === 0;

/** False where the suite is root and `setpriv` is not installed (`apt-get install util-linux`). */
export const canDropPrivileges = !isRoot || findProgram('setpriv') !== undefined;

export function startUnprivileged(args: readonly string[]): Program {
  if (!isRoot) return startCommand(BINARY, args);
  return startCommand(findProgram('setpriv')!, ['--bounding-set=-all', '--inh-caps=-all', BINARY, ...args]);
}
