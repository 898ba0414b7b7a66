/** Runs what of a pipeline needs no values over the bytes of events, many at a time; the others are shaped one by one, in their order. */
import { loadEvents, runTransform, sentEvents, TRANSFORM_INPUT_BYTES } from '../../kernel/transform.ts';
import type { ProgramStep } from '../rows/program.ts';
import type { StageOutput } from '../stages/stage-output.ts';
import type { EventList } from '../stages/stage.ts';
import { planBytes } from './byte-plan.ts';
import { encodePlan } from './byte-program.ts';

/** Shapes the list; calls `shapeOne` for each event that has to be shaped by its values. */
export type ByteShaping = (list: EventList, shapeOne: (event: number) => void) => void;

/** Undefined for a pipeline that needs the values of every event. */
export function createByteShaping({ steps }: { readonly steps: readonly Pick<ProgramStep, 'stages'>[] }, out: StageOutput): ByteShaping | undefined {
  const plan = planBytes(steps);
  const image = plan && encodePlan(plan);
  if (!image) return undefined;
  return (list, shapeOne) => {
    const { bytes, ends } = list;
    const startOf = (event: number): number => (event === 0 ? 0 : ends[event - 1]!);
    for (let event = 0; event < ends.length;) {
      const from = startOf(event);
      const stop = lastWithin(ends, event, from + TRANSFORM_INPUT_BYTES);
      if (stop === event) {
        shapeOne(event++);
        continue;
      }
      const to = ends[stop - 1]!;
      loadEvents(bytes, from, to);
      while (event < stop) {
        const run = runTransform(image, startOf(event) - from, to - from, event);
        if (run.written > 0) out.take(run.bytes, sentEvents(), run.written, list);
        event = run.event;
        if (run.stop === 'values' || (run.stop === 'full' && run.written === 0)) shapeOne(event++);
      }
    }
  };
} // prettier-ignore

/** Behind the last event from `event` on that ends within the limit; the event itself where none does. */
function lastWithin(ends: readonly number[], event: number, limit: number): number {
  let [low, high] = [event, ends.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ends[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
