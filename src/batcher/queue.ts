/**
 * The life of a batch (`next`: the events that each state allows, and the states that they lead to; pure), and the queue of one sink's closed
 * batches until they are settled, oldest first: marks need them committed in that order. What fills batches, keeps them on disk and sends
 * them meets here alone. Promises: each batch is there once, and only the queue moves it.
 */
import type { BodyForm } from '../core/sink.ts';
import type { BackoffOptions } from '../core/time/backoff.ts';
import { type Batch, type BatchState, keyOf } from './batch.ts';
import type { MemoryBudget } from './memory-budget.ts';

export type BatchEvent =
  /** It was found in the disk buffer, and belongs to files. */
  | 'recover'
  /** It is closed, and has to be in the disk buffer first. */
  | 'write'
  /** It may be sent. */
  | 'queue'
  /** A worker has it. */
  | 'take'
  /** It could not be sent now. */
  | 'give_back'
  | 'park'
  | 'lose'
  /** Each of its parts is stored or refused. */
  | 'settle'
  | 'drop';

/** Who is to work now: one that sends, one that writes, or none; `leave`: it is in the queue no more. */
export type BatchAction = 'send' | 'write' | 'leave' | 'none';

interface Next {
  readonly state: BatchState;
  readonly action: BatchAction;
}

const to = (state: BatchState, action: BatchAction = 'none'): Next => ({ state, action });
const queue = to('waiting', 'send');
const drop = to('dropped', 'leave');

const LIFE: Readonly<Record<BatchState, Readonly<Partial<Record<BatchEvent, Next>>>>> = {
  open: { recover: to('recovered'), write: to('writing', 'write'), queue },
  recovered: { queue, drop },
  writing: { queue, drop },
  waiting: { take: to('in_flight'), drop },
  in_flight: { give_back: queue, park: to('parked'), lose: to('unreadable'), settle: to('settled', 'leave'), drop },
  parked: { queue, drop },
  unreadable: {},
  settled: {},
  dropped: {},
};

/** Undefined where the event cannot happen in that state. */
export function next(state: BatchState, event: BatchEvent): Next | undefined {
  return LIFE[state][event];
}

/** Why a dataset is paused. */
export interface Pause {
  readonly reason: string;
  readonly detail: string;
  readonly fix: string;
  /** It does not end in this process: nothing is asked again. */
  readonly isFinal?: boolean;
}

/** The configuration of the disk buffer. */
export interface BufferPolicy {
  readonly maxBytes: number;
  readonly whenFull: 'block' | 'drop_newest' | 'drop_oldest';
  /** Batches of files go to disk while the service is slow. */
  readonly spillFiles: boolean;
  /** Events that cannot be read again are written at once, not when their batch is old enough. */
  readonly writesAtOnce: boolean;
}

/** In force now; a reload replaces them. */
export interface QueueSettings {
  /** The most workers that send. */
  readonly concurrency: number;
  /** The form of batches that have none yet. */
  readonly form?: BodyForm | undefined;
  readonly policy: BufferPolicy;
  readonly retry: BackoffOptions & { readonly maxElapsedMs: number };
}

/** Who acts on what happens to batches; each sets itself. */
interface Workers {
  /** There may be something to send. */
  sender?: { wake(): void };
  /** A batch waits for the disk buffer. */
  writer?: { start(): void };
  /** No batch waits for the disk buffer any more. */
  filler?: { noteWritten(): void };
  /** More batches of files are closed than are sent: this one may leave memory. */
  spooler?: { spill(batch: Batch): void };
  /** A dataset is paused. */
  watcher?: PauseWatcher | undefined;
}

export interface PauseWatcher {
  notePause(sink: string, dataset: string, pause: Pause): void;
}

export interface BatchIds {
  /** The id of a batch that opens. */
  nextId(): number;
}

export interface QueueOptions {
  /** Numbers batches. */
  readonly ids: BatchIds;
  readonly budget: MemoryBudget;
  readonly settings: QueueSettings;
  /** Of this process alone; part of the keys of its batches. */
  readonly run: string;
}

export class BatchQueue {
  readonly #run: string;
  readonly ids: BatchIds;
  readonly budget: MemoryBudget;
  settings: QueueSettings;
  /** The disk buffer takes nothing more now. */
  isFull = false;
  /** Datasets that get nothing but probes. */
  readonly paused = new Map<string, Pause>();
  readonly workers: Workers = {};
  /** Aborts when nothing is sent any more. */
  readonly halt = new AbortController();
  readonly #batches: Batch[] = [];
  readonly #counts = new Map<BatchState, number>();

  constructor(options: QueueOptions) {
    this.#run = options.run;
    this.ids = options.ids;
    this.budget = options.budget;
    this.settings = options.settings;
  }

  /** Takes a batch that takes no more events: it may be sent at once if it can be read again, else once it is on disk. */
  close(batch: Batch): void {
    // A batch that sends nothing has nothing to keep.
    if (!batch.canBeRebuilt && (batch.events > 0 || batch.withheld.isAny)) return this.note(batch, 'write');
    this.note(batch, 'queue');
    if (this.settings.policy.spillFiles && !(this.wantsMore(batch.dataset, true) && this.budget.hasSlot()))
      this.workers.spooler?.spill(batch);
  }

  /** What happened to the batch. Throws where it cannot happen in its state. */
  note(batch: Batch, event: BatchEvent): void {
    const { state } = batch;
    const after = next(state, event);
    if (!after) throw new Error(`a batch that is ${state} got the event ${event}`);
    if (state === 'open') this.#insert(batch);
    else this.#count(state, -1);
    batch.state = after.state;
    if (after.action === 'leave') this.#batches.splice(this.#batches.indexOf(batch), 1);
    else this.#count(after.state, 1);
    if (after.action === 'send' && !this.paused.has(batch.dataset)) this.workers.sender?.wake();
    if (after.action === 'write') this.workers.writer?.start();
    if (state === 'writing' && this.count('writing') === 0) this.workers.filler?.noteWritten();
  }

  in(...states: readonly BatchState[]): Batch[] {
    return this.#batches.filter(({ state }) => states.includes(state));
  }

  /** How many are in one of these states. */
  count(...states: readonly BatchState[]): number {
    return states.reduce((sum, state) => sum + (this.#counts.get(state) ?? 0), 0);
  }

  /** Those that delivery has. */
  get sending(): Batch[] {
    return this.in('waiting', 'in_flight', 'parked', 'unreadable');
  }

  get all(): readonly Batch[] {
    return this.#batches;
  }

  /** True while nothing is being sent. */
  get isIdle(): boolean {
    return this.count('writing', 'waiting', 'in_flight') === 0;
  }

  /** True when events that cannot be read again must not wait in an open batch for more. */
  get wantsLive(): boolean {
    return this.settings.policy.writesAtOnce && this.count('writing') === 0;
  }

  /** True while a worker will take this closed batch soon, so that its body may as well stay in memory. */
  isNext(batch: Batch): boolean {
    if (batch.state === 'in_flight') return true;
    return this.in('waiting').slice(0, this.settings.concurrency).includes(batch) && !this.paused.has(batch.dataset);
  }

  /**
   * False while enough closed batches wait: sources then wait, too, instead of filling memory. Batches of files: half as many as there are
   * workers, those of a paused dataset counted on their own; all paused datasets, and those with parked batches, have half of the memory
   * together, so that they do not starve others. Others: what waits for the disk buffer has half of the memory, and leaves files the other.
   */
  wantsMore(dataset: string, canBeRebuilt: boolean): boolean {
    const { budgetBytes } = this.budget;
    const isPaused = this.paused.has(dataset);
    let waiting = 0;
    let writingBytes = 0;
    let setBackBytes = 0;
    let isSetBack = isPaused;
    for (const { state, payload, dataset: other, isTracked, spoolName } of this.#batches) {
      const waitsForPause = state === 'waiting' && this.paused.has(other);
      if (state === 'writing') writingBytes += payload.memory;
      if (state === 'parked' || waitsForPause) setBackBytes += payload.memory;
      isSetBack ||= state === 'parked' && other === dataset;
      // A batch on disk need not be waited for.
      const isCounted = state === 'waiting' && isTracked && spoolName === undefined;
      if (isCounted && (isPaused ? other === dataset : !waitsForPause)) waiting += 1;
    }
    if (!canBeRebuilt) return writingBytes < budgetBytes / 2;
    return waiting < Math.ceil(this.settings.concurrency / 2) && (!isSetBack || setBackBytes < budgetBytes / 2);
  }

  /** Gives the batch the key and the form that it has to its end. One that was opened before others may be closed after them. */
  #insert(batch: Batch): void {
    batch.key ||= keyOf(batch.owner, batch.dataset, batch.spans, this.#run);
    batch.payload.form ??= this.settings.form;
    let at = this.#batches.length;
    while (at > 0 && this.#batches[at - 1]!.id > batch.id) at -= 1;
    this.#batches.splice(at, 0, batch);
  }

  #count(state: BatchState, change: 1 | -1): void {
    this.#counts.set(state, this.count(state) + change);
  }
}
