/** A shaper from its stages: each takes what the one before left, and what became of every event is counted by the event that was accepted. */
import { createHash } from 'node:crypto';
import {
  type EventsIn,
  type Shaped,
  type Shaper,
  DISPOSITIONS,
  type Disposition,
  type Withheld,
} from '../core/shaping.ts';
import type { EventList, ShapingStage, StageContext, StageResult } from './stages/stage.ts';

const NEWLINE = 0x0a;

export function createShaper(stages: readonly ShapingStage[]): Shaper {
  const named = stages.map(({ digest }) => digest);
  return {
    digest: createHash('sha256').update(JSON.stringify(named)).digest('hex'),
    isDeterministic: stages.every(({ isDeterministic }) => isDeterministic),
    hidesFields: stages.some(({ hidesFields }) => hidesFields),
    shape(events) {
      const outcome = new ShaperOutcome(events.count);
      return runFrom(stages, 0, new AcceptedEvents(events), events, outcome);
    },
  };
}

/** Stays in the same turn as long as no stage needs another. */
function runFrom(
  stages: readonly ShapingStage[],
  first: number,
  list: EventList,
  context: StageContext,
  outcome: ShaperOutcome,
): Shaped | Promise<Shaped> {
  for (let n = first; n < stages.length; n++) {
    const result = stages[n]!.run(list, context);
    if (result instanceof Promise)
      return result.then((each) => runFrom(stages, n + 1, outcome.note(each), context, outcome));
    list = outcome.note(result);
  }
  return outcome.finish(list);
}

/** Shared by all blocks: nobody writes to them. */
let numbers = new Uint32Array(0);
let zeros = new Uint32Array(0);

/** The events as they were accepted. Where each ends is computed only when it is needed. */
class AcceptedEvents implements EventList {
  readonly areAccepted = true;
  readonly bytes: Buffer;
  readonly count: number;
  readonly origins: Uint32Array;
  readonly subs: Uint32Array;
  #ends: Uint32Array | undefined;

  constructor({ bytes, count }: EventsIn) {
    this.bytes = bytes;
    this.count = count;
    if (numbers.length < count)
      [numbers, zeros] = [Uint32Array.from({ length: 2 * count }, (_, n) => n), new Uint32Array(2 * count)];
    this.subs = zeros.subarray(0, count);
    this.origins = numbers.subarray(0, count);
  }

  get ends(): Uint32Array {
    return (this.#ends ??= this.#findEnds());
  }

  #findEnds(): Uint32Array {
    const ends = new Uint32Array(this.count);
    for (let event = 0, at = 0; event < this.count; event++) ends[event] = at = this.bytes.indexOf(NEWLINE, at) + 1;
    return ends;
  }
}

const placeOf = (fate: Disposition): number => DISPOSITIONS.indexOf(fate);
const FILTERED = placeOf('filtered');

class ShaperOutcome {
  readonly #events: number;
  #dispositions: Uint8Array | undefined;
  readonly #withheld: Withheld[] = [];
  #errors = 0;
  #isRepeatable = true;

  constructor(events: number) {
    this.#events = events;
  }

  note({ list, failures, errors, isRepeatable }: StageResult): EventList {
    this.#errors += errors;
    this.#isRepeatable &&= isRepeatable;
    for (const { origin, sub, fate, reason, text } of failures) {
      this.#worsen(origin, placeOf(fate === 'dropped' ? 'dropped' : 'dead_lettered'));
      if (fate === 'withheld') this.#withheld.push({ event: origin, sub, reason, text });
    }
    return list;
  }

  finish(list: EventList): Shaped {
    if (list.byEvent && list.all) {
      const { bytes, byEvent, all } = list;
      return { bytes, ...byEvent, all, withheld: [], errors: this.#errors, isRepeatable: this.#isRepeatable };
    }
    const { bytes, count, ends: listEnds, origins, datasets } = list;
    const sent = new Uint32Array(this.#events);
    const ends = new Uint32Array(sent.length);
    for (let event = 0, n = 0, end = 0; event < sent.length; event++) {
      for (; n < count && origins[n] === event; n++) {
        sent[event]! += 1;
        end = listEnds[n]!;
      }
      ends[event] = end;
      if (sent[event] === 0) this.#worsen(event, FILTERED);
    }
    const withheld = this.#withheld.sort((a, b) => a.event - b.event || a.sub - b.sub);
    const shaped = {
      bytes,
      ends,
      sent,
      dispositions: this.#ownDispositions,
      withheld,
      errors: this.#errors,
      isRepeatable: this.#isRepeatable,
    };
    return datasets ? { ...shaped, routes: { datasets, ends: listEnds, origins } } : shaped;
  }

  get #ownDispositions(): Uint8Array {
    return (this.#dispositions ??= new Uint8Array(this.#events));
  }

  #worsen(event: number, as: number): void {
    const dispositions = this.#ownDispositions;
    if (as > dispositions[event]!) dispositions[event] = as;
  }
}
