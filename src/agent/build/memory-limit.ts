/** Says where a container or unit gives the agent too little memory. */
import { LEAST_MEMORY_BYTES } from '../limits.ts';

/** `limitBytes`: of the control group; without one it is 0 or more than any machine has. */
export function describeShortMemory(
  limitBytes = process.constrainedMemory(),
): { message: string; fix: string } | undefined {
  if (limitBytes === 0 || limitBytes >= LEAST_MEMORY_BYTES) return undefined;
  return {
    message: `the memory limit is ${Math.floor(limitBytes / 1024 ** 2)} MiB: the system may kill the agent under load, which loses nothing and takes a restart`,
    fix: 'give it 128 MiB for files, 192 MiB with syslog or standard input, or set buffer.max_memory of each sink lower',
  };
}
