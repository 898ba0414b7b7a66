/** What a stage writes: the events that come of each event, or what `on_error` says of one that its transform failed on. */
import { MAX_SHAPED_BYTES } from '../limits.ts';
import { ByteWriter } from '../events/byte-writer.ts';
import type { Members } from '../events/members.ts';
import { writeWith } from '../events/write-event.ts';
import type { EventList, Failure, OnError, StageResult } from './stage.ts';

export interface StageOutputOptions {
  readonly onError: OnError;
  /** It says itself where events go. */
  readonly routes?: boolean;
  /** Told of each failure; `reason` quotes nothing of the event. */
  failed(reason: string): void;
}

export class StageOutput {
  readonly writer = new ByteWriter();
  readonly #options: StageOutputOptions;
  #ends: number[] = [];
  #origins: number[] = [];
  #subs: number[] = [];
  #datasets: (string | undefined)[] = [];
  #failures: Failure[] = [];
  #errors = 0;
  /** Where what comes of the event under way begins. */
  #from = { bytes: 0, events: 0 };
  /** Where the event under way went before this stage. */
  #dataset: string | undefined;
  #hasDatasets = false;

  constructor(options: StageOutputOptions) {
    this.#options = options;
  }

  clear(): void {
    this.writer.clear();
    this.#ends = [];
    this.#origins = [];
    this.#subs = [];
    this.#datasets = [];
    this.#hasDatasets = false;
    this.#failures = [];
    this.#errors = 0;
  }

  /** Event `n` of the list begins: what is written from now on comes of it. */
  begin({ datasets }: EventList, n: number): void {
    this.#hasDatasets ||= datasets !== undefined;
    this.#dataset = datasets?.[n];
    this.#from = { bytes: this.writer.length, events: this.#ends.length };
  }

  /** Takes what was written since the last call as one event, for that dataset. False when it is more than may come of one event. */
  note(origin: number, dataset = this.#dataset): boolean {
    if (this.writer.length - this.#from.bytes > MAX_SHAPED_BYTES) return false;
    const last = this.#origins.length - 1;
    this.#subs.push(last >= 0 && this.#origins[last] === origin ? this.#subs[last]! + 1 : 0);
    this.#origins.push(origin);
    this.#datasets.push(dataset);
    this.#ends.push(this.writer.length);
    return true;
  }

  /** Takes events that were made at once: `sent` has for each its number in the list and its end in the bytes. */
  take(bytes: Buffer, sent: Uint32Array, count: number, { origins, datasets }: EventList): void {
    this.#hasDatasets ||= datasets !== undefined;
    const base = this.writer.length;
    this.writer.copy(bytes, 0, bytes.length);
    for (let n = 0; n < count; n++) {
      const origin = origins[sent[2 * n]!]!;
      const last = this.#origins.length - 1;
      this.#subs.push(last >= 0 && this.#origins[last] === origin ? this.#subs[last]! + 1 : 0);
      this.#origins.push(origin);
      this.#datasets.push(datasets?.[sent[2 * n]!]);
      this.#ends.push(base + sent[2 * n + 1]!);
    }
  }

  /** The transform failed on event `n` of the list: what was written of it goes, and it fares as `on_error` says. */
  fail(list: EventList, n: number, members: Members, reason: string): void {
    const { onError } = this.#options;
    this.writer.cut(this.#from.bytes);
    this.#ends.length = this.#origins.length = this.#subs.length = this.#datasets.length = this.#from.events;
    this.#errors += 1;
    this.#options.failed(reason);
    const origin = list.origins[n]!;
    if (onError === 'keep') {
      writeWith(this.writer, members, 'transform_error', JSON.stringify(reason));
      // An event that was the largest possible before is not lost for the text.
      this.#from = { bytes: this.writer.length, events: this.#ends.length };
      this.note(origin);
      return;
    }
    const text = list.bytes.toString('utf8', n === 0 ? 0 : list.ends[n - 1]!, list.ends[n]! - 1);
    this.#failures.push({ origin, sub: list.subs[n]!, fate: onError === 'drop' ? 'dropped' : 'withheld', reason, text });
  }

  get result(): StageResult {
    const routed = this.#hasDatasets || this.#options.routes === true ? { datasets: this.#datasets } : {};
    const list = { bytes: this.writer.bytes, ends: this.#ends, origins: this.#origins, subs: this.#subs, ...routed };
    return { list, failures: this.#failures, errors: this.#errors, isRepeatable: true };
  }
}

export const TOO_LARGE = `the transform made more than ${MAX_SHAPED_BYTES / 1024 / 1024} MiB of one event`;
