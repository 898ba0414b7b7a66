/** Opens the data folder that argv names: prints `open`, or the error as JSON, and stays until it is killed. */
import { silentLog } from '../../src/core/log.ts';
import { TailraceError } from '../../src/core/errors.ts';
import { openState } from '../../src/state/database/store.ts';

try {
  // Kept, because a collected object lets go of the lock.
  const state = openState({ folder: process.argv[2]!, sinksOf: () => ['store'], log: silentLog });
  console.log('open');
  setInterval(() => state.save(), 60_000);
} catch (error) {
  const { code, message, fix } = error as TailraceError;
  console.log(JSON.stringify({ declared: error instanceof TailraceError, code, message, fix }));
}
