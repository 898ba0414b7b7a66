/** What `serve` may take of the machine, and how its JavaScript keeps to its share. */
import { totalmem } from 'node:os';
import { isSea } from 'node:sea';
import { parseSize } from '../../config/fields/units.ts';
import { UsageError } from '../../core/errors.ts';
import { SERVICE_LEAST_MEMORY_BYTES, SERVICE_MEMORY_BYTES } from '../../service/limits.ts';

const MIB = 1024 * 1024;

/** `--memory`, else half of what the machine or its control group has, at most 4 GiB. Throws a `UsageError`. */
export function readMemory(text: string | undefined): number {
  if (text === undefined) return Math.floor(Math.min(SERVICE_MEMORY_BYTES, machineBytes() / 2));
  const parsed = parseSize(text);
  if (parsed.ok && parsed.value >= MIB && parsed.value <= 2 ** 50) return parsed.value;
  throw new UsageError(
    'E_LIMIT',
    `--memory ${JSON.stringify(text)} ${parsed.ok ? 'wanted a size from 1MiB' : parsed.message}`,
    {
      fix: parsed.ok ? 'leave --memory out for half of the machine, at most 4GiB' : parsed.fix,
    },
  );
}

/** Undefined where there is enough. */
export const shortMemory = (bytes: number): string | undefined =>
  bytes >= SERVICE_LEAST_MEMORY_BYTES
    ? undefined
    : `${Math.floor(bytes / MIB)} MiB of memory leave queries little: give the service ${SERVICE_LEAST_MEMORY_BYTES / MIB} MiB or more with --memory`;

/** Of the control group where that has less; one without a limit says 0 or more than there is. */
function machineBytes(): number {
  const group = process.constrainedMemory();
  return group > 0 ? Math.min(group, totalmem()) : totalmem();
}

/**
 * Gives JavaScript a heap of so many bytes. Node sets its size when it starts, so the process begins anew, under the same id; it does not
 * where the user has set a size, nor where Node cannot.
 */
export function boundHeap(bytes: number): void {
  const options = process.env['NODE_OPTIONS'] ?? '';
  if (/--max[-_]old[-_]space[-_]size/.test(`${options} ${process.execArgv.join(' ')}`) || process.execve === undefined)
    return;
  const flags = `--max-old-space-size=${Math.floor(bytes / MIB)} --max-semi-space-size=${SEMI_SPACE_MIB}`;
  // The executable has its own flags in it, and takes more from its arguments alone.
  const args = isSea()
    ? [`--node-options=${flags}`, ...process.argv.slice(2)]
    : [...process.execArgv, ...process.argv.slice(1)];
  const env = isSea() ? process.env : { ...process.env, NODE_OPTIONS: `${options} ${flags}` };
  process.execve(process.execPath, [process.execPath, ...args], env);
}

/** Node's 16 MiB take 48 MiB of memory. */
const SEMI_SPACE_MIB = 8;
