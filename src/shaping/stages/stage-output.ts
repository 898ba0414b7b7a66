/** Writes a stage's output: the events made of each event, or the result of `on_error` for one that its transform failed on. */
import { MAX_SHAPED_BYTES } from '../limits.ts';
import { ByteWriter } from '../../core/bytes/byte-writer.ts';
import type { Members } from '../../json/members.ts';
import type { TransformRun } from '../../kernel/transform.ts';
import { writeWith } from '../events/write-event.ts';
import type { EventList, OnError, StageFailure, StageResult } from './stage.ts';

export interface StageOutputOptions {
  readonly onError: OnError;
  /** It says itself where events go. */
  readonly routes?: boolean;
  /** Called for each failure; `reason` quotes nothing of the event. */
  failed(reason: string): void;
}

export class StageOutput {
  readonly writer = new ByteWriter();
  readonly #options: StageOutputOptions;
  readonly #ends = new NumberList();
  readonly #origins = new NumberList();
  readonly #subs = new NumberList();
  /** One for each event, if any event has one. */
  #datasets: (string | undefined)[] = [];
  #failures: StageFailure[] = [];
  #errors = 0;
  /** Where the output of the current event begins. */
  #fromBytes = 0;
  #fromEvents = 0;
  /** The dataset of the current event before this stage. */
  #dataset: string | undefined;
  #hasDatasets: boolean;

  constructor(options: StageOutputOptions) {
    this.#options = options;
    this.#hasDatasets = options.routes === true;
  }

  clear(): void {
    this.writer.clear();
    this.#ends.clear();
    this.#origins.clear();
    this.#subs.clear();
    this.#datasets = [];
    this.#hasDatasets = this.#options.routes === true;
    this.#failures = [];
    this.#errors = 0;
  }

  /** Begins event `n` of the list: later output belongs to it. */
  begin({ datasets }: EventList, n: number): void {
    this.#hasDatasets ||= datasets !== undefined;
    this.#dataset = datasets?.[n];
    this.#fromBytes = this.writer.length;
    this.#fromEvents = this.#ends.length;
  }

  /** Takes the output since the last call as one event, for that dataset. False when it is more than one event may become. */
  note(origin: number, dataset = this.#dataset): boolean {
    if (this.writer.length - this.#fromBytes > MAX_SHAPED_BYTES) return false;
    this.#add(origin, this.writer.length, dataset);
    return true;
  }

  /** Takes events that were made at once, of the list's from `first` on. */
  take({ bytes, ends, sent }: TransformRun, first: number, { origins, datasets }: EventList): void {
    this.#hasDatasets ||= datasets !== undefined;
    const base = this.writer.length;
    this.writer.copy(bytes, 0, bytes.length);
    for (let n = 0; n < sent.length; n++)
      if (sent[n] === 1) this.#add(origins[first + n]!, base + ends[n]!, datasets?.[first + n]);
  }

  #add(origin: number, end: number, dataset: string | undefined): void {
    this.#subs.push(this.#origins.last === origin ? this.#subs.last! + 1 : 0);
    this.#origins.push(origin);
    this.#ends.push(end);
    if (this.#hasDatasets) this.#datasets.push(dataset);
  }

  /** The transform failed on event `n` of the list: cuts its output and applies `on_error`. */
  fail(list: EventList, n: number, members: Members, reason: string): void {
    const { onError } = this.#options;
    this.writer.cut(this.#fromBytes);
    this.#ends.length = this.#origins.length = this.#subs.length = this.#fromEvents;
    if (this.#hasDatasets) this.#datasets.length = this.#fromEvents;
    this.#errors += 1;
    this.#options.failed(reason);
    const origin = list.origins[n]!;
    if (onError === 'keep') {
      writeWith(this.writer, members, 'transform_error', JSON.stringify(reason));
      // An event that was the largest possible before is not lost for the text.
      this.#fromBytes = this.writer.length;
      this.#fromEvents = this.#ends.length;
      this.note(origin);
      return;
    }
    const text = list.bytes.toString('utf8', n === 0 ? 0 : list.ends[n - 1]!, list.ends[n]! - 1);
    this.#failures.push({
      origin,
      sub: list.subs[n]!,
      fate: onError === 'drop' ? 'dropped' : 'withheld',
      reason,
      text,
    });
  }

  get result(): StageResult {
    const list = {
      bytes: this.writer.bytes,
      count: this.#ends.length,
      ends: this.#ends.view,
      origins: this.#origins.view,
      subs: this.#subs.view,
      ...(this.#hasDatasets ? { datasets: this.#datasets } : {}),
    };
    return { list, failures: this.#failures, errors: this.#errors, isRepeatable: true };
  }
}

export const TOO_LARGE = `the transform made more than ${MAX_SHAPED_BYTES / 1024 / 1024} MiB of one event`;

const FIRST_NUMBERS = 4096;
/** Memory that a block of very many events made grow is not kept for the rest of the agent's life. */
const KEPT_NUMBERS = 64 * 1024;

class NumberList {
  #numbers = new Uint32Array(FIRST_NUMBERS);
  length = 0;

  /** A view; valid until the next change. */
  get view(): Uint32Array {
    return this.#numbers.subarray(0, this.length);
  }

  get last(): number | undefined {
    return this.length === 0 ? undefined : this.#numbers[this.length - 1];
  }

  clear(): void {
    this.length = 0;
    if (this.#numbers.length > KEPT_NUMBERS) this.#numbers = new Uint32Array(FIRST_NUMBERS);
  }

  push(number: number): void {
    if (this.length === this.#numbers.length) this.#grow();
    this.#numbers[this.length++] = number;
  }

  #grow(): void {
    const larger = new Uint32Array(2 * this.#numbers.length);
    larger.set(this.#numbers);
    this.#numbers = larger;
  }
}
