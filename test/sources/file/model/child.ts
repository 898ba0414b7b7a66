/**
 * Plays a round of schedules until one breaks the promise: `child.ts RUNS SEED INCLUDE PARENT [found]`. Ends with 0 and what it played, else
 * with 1 and the schedule, shrunk; with `found` it begins with those of found.ts, and does not shrink. In a process of its own, so that a
 * patched source can be put under it, and what many agents leave in memory goes with it.
 */
import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import zlib from 'node:zlib';
import * as fc from 'fast-check';
import { withCallbacks, withGunzip, withPromises } from './at-once.ts';
import { Coverage, schedulesOf } from './events.ts';
import { found } from './found.ts';
import { play } from './play.ts';

Object.assign(fs, withCallbacks({}));
Object.assign(promises, withPromises({}));
// Not to be assigned to.
for (const [name, value] of Object.entries(withGunzip({}))) Object.defineProperty(zlib, name, { value, enumerable: true });
syncBuiltinESMExports();

const [runs = '200', seed = '1', include = '*.log', parent = '/tmp', first] = process.argv.slice(2);
const coverage = new Coverage();
const property = fc.asyncProperty(schedulesOf(include), async (schedule) => {
  coverage.add(schedule);
  await play(schedule, include, parent);
});
const known = first === 'found' ? { examples: found.map(({ schedule }) => [schedule] as [typeof schedule]), endOnFailure: true } : {};
const result = await fc.check(property, { numRuns: Number(runs), seed: Number(seed), ...known });
if (result.failed) {
  console.log(JSON.stringify(result.counterexample?.[0]));
  console.log(`seed ${result.seed}, path ${result.counterexamplePath}, after ${result.numRuns} runs`);
  console.log((result.errorInstance as Error | undefined)?.message);
} else console.log(JSON.stringify(coverage));
process.exit(result.failed ? 1 : 0);
