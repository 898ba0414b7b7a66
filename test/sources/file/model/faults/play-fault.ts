/** Plays the schedule of the planted fault, by itself: ends with 1 and what the judge says where the promise breaks. For `hook.ts`. */
import '../sync-node.ts';
import { tmpdir } from 'node:os';
import { found } from '../found/found.ts';
import { play } from '../play.ts';
import { faults } from './faults.ts';

const fault = faults.find(({ name }) => name === process.env['TAILRACE_FAULT'])!;
try {
  await play(found.find(({ name }) => name === fault.schedule)!.schedule, fault.include, tmpdir());
} catch (error) {
  console.log((error as Error).message);
  process.exit(1);
}
process.exit(0);
