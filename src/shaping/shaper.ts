/** A shaper from its stages: each takes what the one before left, and what became of every event is counted by the event that was accepted. */
import { createHash } from 'node:crypto';
import type { EventsIn, Shaped, Shaper, Unsent, Withheld } from '../core/shaping.ts';
import type { EventList, Stage, StageContext, StageResult } from './stages/stage.ts';

const NEWLINE = 0x0a;
const BADNESS: readonly Unsent[] = ['none', 'filtered', 'dropped', 'dead_lettered'];

export function createShaper(stages: readonly Stage[]): Shaper {
  const named = stages.map(({ digest }) => digest);
  return {
    digest: createHash('sha256').update(JSON.stringify(named)).digest('hex'),
    isDeterministic: stages.every(({ isDeterministic }) => isDeterministic),
    shape(events) {
      const outcome = new Outcome(events.count);
      return runFrom(stages, 0, listOf(events), events, outcome);
    },
  };
}

/** Stays in the same turn as long as no stage needs another. */
function runFrom(
  stages: readonly Stage[],
  first: number,
  list: EventList,
  context: StageContext,
  outcome: Outcome,
): Shaped | Promise<Shaped> {
  for (let n = first; n < stages.length; n++) {
    const result = stages[n]!.run(list, context);
    if (result instanceof Promise) return result.then((each) => runFrom(stages, n + 1, outcome.note(each), context, outcome));
    list = outcome.note(result);
  }
  return outcome.finish(list);
}

function listOf({ bytes, count }: EventsIn): EventList {
  const ends: number[] = [];
  const origins: number[] = [];
  for (let event = 0, at = 0; event < count; event++) {
    at = bytes.indexOf(NEWLINE, at) + 1;
    ends.push(at);
    origins.push(event);
  }
  return { bytes, ends, origins, subs: Array<number>(count).fill(0) };
}

class Outcome {
  readonly #unsent: Unsent[];
  readonly #withheld: Withheld[] = [];
  readonly #sent: number[];
  #errors = 0;
  #isRepeatable = true;

  constructor(events: number) {
    this.#unsent = Array<Unsent>(events).fill('none');
    this.#sent = Array<number>(events).fill(0);
  }

  note({ list, failures, errors, isRepeatable }: StageResult): EventList {
    this.#errors += errors;
    this.#isRepeatable &&= isRepeatable;
    for (const { origin, sub, fate, reason, text } of failures) {
      this.#worsen(origin, fate === 'dropped' ? 'dropped' : 'dead_lettered');
      if (fate === 'withheld') this.#withheld.push({ event: origin, sub, reason, text });
    }
    return list;
  }

  finish({ bytes, ends: listEnds, origins, datasets }: EventList): Shaped {
    const count = this.#sent.length;
    const ends: number[] = [];
    let n = 0;
    for (let event = 0; event < count; event++) {
      for (; origins[n] === event; n++) this.#sent[event]! += 1;
      ends.push(n === 0 ? 0 : listEnds[n - 1]!);
      if (this.#sent[event] === 0) this.#worsen(event, 'filtered');
    }
    const withheld = this.#withheld.sort((a, b) => a.event - b.event || a.sub - b.sub);
    const shaped = {
      bytes,
      ends,
      sent: this.#sent,
      unsent: this.#unsent,
      withheld,
      errors: this.#errors,
      isRepeatable: this.#isRepeatable,
    };
    return datasets ? { ...shaped, routes: { datasets, ends: listEnds, origins } } : shaped;
  }

  #worsen(event: number, as: Unsent): void {
    if (BADNESS.indexOf(as) > BADNESS.indexOf(this.#unsent[event]!)) this.#unsent[event] = as;
  }
}
