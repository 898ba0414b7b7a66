/** The output of a stage that shaped all accepted events in one call: tables by event, in reused memory. */
import type { AllSent } from '../../core/shaping.ts';
import type { TransformRun } from '../../kernel/transform.ts';
import { ByteWriter } from '../../core/bytes/byte-writer.ts';
import type { EventList, EventTables } from '../stages/stage.ts';

export class WholeList implements EventList {
  readonly #writer = new ByteWriter();
  #numbers = new Uint32Array(0);
  #kinds = new Uint8Array(0);
  count = 0;
  byEvent: EventTables = { ends: this.#numbers, sent: this.#numbers, dispositions: this.#kinds };
  all: AllSent = { sent: 0, runs: this.#numbers };
  #sparse: Pick<EventList, 'ends' | 'origins' | 'subs'> | undefined;

  /** Copies a run's tables and bytes, which the next overwrites, be it another stage's. */
  take({ events, written, bytes, ends, sent, dispositions, runs }: TransformRun): this {
    this.#writer.clear();
    this.#writer.copy(bytes, 0, bytes.length);
    const length = 2 * events + runs.length;
    if (this.#numbers.length < length) this.#numbers = new Uint32Array(2 * length);
    if (this.#kinds.length < events) this.#kinds = new Uint8Array(2 * events);
    this.#numbers.set(ends);
    this.#numbers.set(sent, events);
    this.#numbers.set(runs, 2 * events);
    this.#kinds.set(dispositions);
    this.count = written;
    this.byEvent = {
      ends: this.#numbers.subarray(0, events),
      sent: this.#numbers.subarray(events, 2 * events),
      dispositions: this.#kinds.subarray(0, events),
    };
    this.all = { sent: written, runs: this.#numbers.subarray(2 * events, length) };
    this.#sparse = undefined;
    return this;
  }

  get bytes(): Buffer {
    return this.#writer.bytes;
  }

  get ends(): Uint32Array {
    return this.#tables.ends;
  }

  get origins(): Uint32Array {
    return this.#tables.origins;
  }

  get subs(): Uint32Array {
    return this.#tables.subs;
  }

  /** By event that is left, for a stage that follows. */
  get #tables(): Pick<EventList, 'ends' | 'origins' | 'subs'> {
    if (this.#sparse) return this.#sparse;
    const { ends, sent } = this.byEvent;
    const origins = new Uint32Array(this.count);
    for (let event = 0, n = 0; event < sent.length; event++) if (sent[event] === 1) origins[n++] = event;
    this.#sparse = { ends: origins.map((event) => ends[event]!), origins, subs: new Uint32Array(this.count) };
    return this.#sparse;
  }
}
