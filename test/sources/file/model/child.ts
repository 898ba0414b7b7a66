/**
 * Plays schedules until one breaks the promise: `child.ts RUNS SEED INCLUDE PARENT`. Ends with 1 and the schedule then, else
 * with 0. On its own so that a patched source can be put under it.
 */
import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import * as fc from 'fast-check';
import { withCallbacks, withPromises } from './at-once.ts';
import { schedules } from './events.ts';
import { found } from './found.ts';
import { play } from './play.ts';

Object.assign(fs, withCallbacks({}));
Object.assign(promises, withPromises({}));
syncBuiltinESMExports();

const [runs = '200', seed = '1', include = '*.log', parent = '/tmp', shrink] = process.argv.slice(2);
const result = await fc.check(
  fc.asyncProperty(schedules, (schedule) => play(schedule, include, parent)),
  { numRuns: Number(runs), seed: Number(seed), examples: found.map(({ schedule }) => [schedule]), endOnFailure: shrink === undefined },
);
if (result.failed) {
  console.log(JSON.stringify(result.counterexample?.[0]));
  console.log(`seed ${result.seed}, path ${result.counterexamplePath}, after ${result.numRuns} runs`);
  console.log((result.errorInstance as Error | undefined)?.message);
}
process.exit(result.failed ? 1 : 0);
