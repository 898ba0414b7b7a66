/**
 * Plays a round of schedules until one breaks the promise: `child.ts RUNS SEED INCLUDE PARENT`. Ends with 0 and what it played, else with 1
 * and the schedule, shrunk. In a process of its own, so that what many agents leave in memory goes with it.
 */
import './sync-node.ts';
import * as fc from 'fast-check';
import { Coverage, schedulesOf } from './events.ts';
import { play } from './play.ts';

const [runs = '200', seed = '1', include = '*.log', parent = '/tmp'] = process.argv.slice(2);
const coverage = new Coverage();
const property = fc.asyncProperty(schedulesOf(include), async (schedule) => {
  coverage.add(schedule);
  await play(schedule, include, parent);
});
const result = await fc.check(property, { numRuns: Number(runs), seed: Number(seed) });
if (result.failed) {
  console.log(JSON.stringify(result.counterexample?.[0]));
  console.log(`seed ${result.seed}, path ${result.counterexamplePath}, after ${result.numRuns} runs`);
  console.log((result.errorInstance as Error | undefined)?.message);
} else console.log(JSON.stringify(coverage));
process.exit(result.failed ? 1 : 0);
