/** Runs what of a pipeline needs no values over the bytes of events, many at a time; the others are shaped one by one, in their order. */
import { liesInPlace, loadEvents, runTransform, TRANSFORM_INPUT_BYTES } from '../../kernel/transform.ts';
import type { ProgramStep } from '../rows/program.ts';
import type { StageOutput } from '../stages/stage-output.ts';
import type { EventList } from '../stages/stage.ts';
import { planBytes } from './byte-plan.ts';
import { encodePlan } from './byte-program.ts';
import { WholeList } from './whole-list.ts';

const NEWLINE = 0x0a;

/**
 * Shapes the list; calls `shapeOne` for each event that has to be shaped by its values. Returns accepted events that were all shaped at
 * once; undefined: they are in the stage's output.
 */
export type ByteShaping = (list: EventList, shapeOne: (event: number) => void) => WholeList | undefined;

/** Undefined for a pipeline that needs the values of every event. */
export function createByteShaping(
  { steps }: { readonly steps: readonly Pick<ProgramStep, 'stages'>[] },
  out: StageOutput,
): ByteShaping | undefined {
  const plan = planBytes(steps);
  const image = plan && encodePlan(plan);
  if (!image) return undefined;
  const whole = plan.edits && new WholeList();
  return (list, shapeOne) => {
    const { bytes } = list;
    let event = 0;
    for (let from = 0; event < list.count;) {
      const to = lastEnd(bytes, from);
      if (to === from) {
        from = list.ends[event]!;
        shapeOne(event++);
        continue;
      }
      const loaded = loadEvents(bytes, from, to);
      for (let at = from; at < to;) {
        const run = runTransform(image, loaded, at - from, to - from);
        if (whole && list.areAccepted && run.events === list.count) return whole.take(run);
        if (run.written > 0) out.take(run, event, list);
        at = from + run.reached;
        event += run.events;
        if (run.stop === 'end' || (run.stop === 'full' && run.events > 0)) continue;
        at = list.ends[event]!;
        shapeOne(event++);
      }
      from = to;
    }
    return undefined;
  };
}

/** Behind the last event that begins at `from` or later and is taken at once with those before it; `from` where the next is too large. */
function lastEnd(bytes: Buffer, from: number): number {
  const limit = from + TRANSFORM_INPUT_BYTES;
  if (limit >= bytes.length || liesInPlace(bytes)) return bytes.length;
  const newline = bytes.subarray(from, limit).lastIndexOf(NEWLINE);
  return from + newline + 1;
}
