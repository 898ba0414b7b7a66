/** A sink whose requests wait for the test's answer, a delivery before it, and a stopped clock. */
import { AddressEncodings, EncodingChoice } from '../../src/core/requests.ts';
import { createSinkHistograms } from '../../src/agent/build/sink-pipeline.ts';
import { Delivery, type DeliveryOptions } from '../../src/batcher/send/delivery.ts';
import { BatchQueue, type BufferPolicy } from '../../src/batcher/queue.ts';
import { type BatchStores, Keeper, type LetterStore } from '../../src/batcher/store.ts';
import { MemoryBudget } from '../../src/batcher/memory-budget.ts';
import { decode } from '../../src/batcher/events.ts';
import type { CompressionSetting, Outcome, SinkRequest, SendResult, Sink } from '../../src/core/sink.ts';
import { MemoryLog } from '../support/memory-log.ts';
import { SteppedClock } from '../support/stepped-clock.ts';
import { settleTurns, until } from '../support/until.ts';

export const delivered = (events: number): Outcome => ({
  kind: 'delivered',
  stored: events,
  facts: { toy_bytes_total: 10 * events, toy_length: 3 },
});
export const retry = (reason: Extract<Outcome, { kind: 'retry' }>['reason'], afterMs?: number): Outcome => ({
  kind: 'retry',
  reason,
  detail: `the service said ${reason}`,
  ...(afterMs === undefined ? {} : { afterMs }),
});
export const pause = (reason: 'unauthorized' | 'not_found' = 'unauthorized'): Outcome => ({
  kind: 'pause',
  reason,
  detail: 'HTTP 403 no',
  fix: 'check the token',
});
/** Stores all of a request. */
export const stores = ({ sent }: OpenRequest): Reply => ({ outcome: delivered(sent.events) });

/** A request that waits for its answer. */
export interface OpenRequest {
  readonly sent: SinkRequest;
  /** As NDJSON. */
  readonly body: string;
  /** The body's events. */
  readonly events: readonly string[];
  answer(outcome: Outcome, status?: number, elapsedMs?: number): Promise<void>;
}

interface Reply {
  readonly outcome: Outcome;
  readonly status?: number | undefined;
  readonly unsent?: 'unsigned' | 'unconnected';
  readonly mayBeStored?: boolean;
}

/** A policy that keeps batches on disk as they come. */
export const diskPolicy = (maxBytes = 1024 * 1024, whenFull: BufferPolicy['whenFull'] = 'block'): BufferPolicy => ({
  maxBytes,
  whenFull,
  spillFiles: false,
  writesAtOnce: false,
});

export const roomy = Object.assign(new MemoryBudget(Infinity, 0, []), { hasSlot: () => true });

const RETRY = { initialBackoffMs: 100, maxBackoffMs: 1000, maxElapsedMs: Infinity };

/** A queue that numbers its batches from 1. */
export function makeQueue(
  budget: MemoryBudget = roomy,
  concurrency = 1,
  policy = diskPolicy(),
  retry = RETRY,
): BatchQueue {
  let id = 0;
  return new BatchQueue({ ids: { nextId: () => ++id }, budget, settings: { concurrency, policy, retry }, run: '' });
}

/** What keeps the batches of a rig, of files or not. */
export type RigKeeper = BatchStores['positions'];

type RigDelivery = Partial<Pick<DeliveryOptions, 'sink' | 'random'>> &
  Pick<Sink, 'tokenChange'> &
  Pick<DeliveryOptions, 'queue'> & {
    /** Keeps the batches. */
    readonly store: RigKeeper;
    readonly encodings?: AddressEncodings;
    readonly compression?: CompressionSetting;
    readonly commitEveryMs?: number;
    readonly deadLetter?: LetterStore['keep'];
  };

export class SinkRig {
  readonly clock = new SteppedClock();
  readonly log = new MemoryLog();
  readonly open: OpenRequest[] = [];
  readonly requests: OpenRequest[] = [];
  /** Answers at once instead of waiting for the test. */
  respond: ((request: OpenRequest) => Reply | undefined) | undefined;

  /** A delivery to a sink of its own. */
  protected deliveryOf(
    {
      queue,
      store,
      encodings = new AddressEncodings(),
      compression = 'none',
      commitEveryMs = 0,
      deadLetter = () => Promise.resolve('kept'),
      random = () => 0.5,
      tokenChange,
      ...given
    }: RigDelivery,
    id = 'store',
  ): { readonly delivery: Delivery; readonly keeper: Keeper } {
    const { clock, log } = this;
    const sink: Sink = given.sink ?? {
      id,
      send: (request, signal) => this.send(request, signal),
      close: () => Promise.resolve(),
      ...(tokenChange ? { tokenChange } : {}),
    };
    const keeper = new Keeper({
      ...{ sink: sink.id, queue, clock, log, commitEveryMs },
      stores: { positions: store, spool: store },
      letters: { keep: deadLetter },
    });
    const encoding = new EncodingChoice({ sink, encodings, compression, clock, log });
    const histograms = createSinkHistograms();
    return { keeper, delivery: new Delivery({ sink, queue, keeper, encoding, histograms, clock, log, random }) };
  }

  /** Waits for a request that is open and returns it. */
  async next(): Promise<OpenRequest> {
    await until('a request', () => this.open.length > 0);
    return this.open.shift()!;
  }

  protected send(request: SinkRequest, signal: AbortSignal): Promise<SendResult> {
    const { promise, resolve, reject } = Promise.withResolvers<SendResult>();
    const body = decode(request.body, request.encoding).toString();
    const opened: OpenRequest = {
      sent: request,
      body,
      events: body.trimEnd().split('\n'),
      answer: async (outcome, status = 200, elapsedMs = 1) => {
        resolve({ outcome, status, elapsedMs });
        await settleTurns();
      },
    };
    this.requests.push(opened);
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    const now = this.respond?.(opened);
    if (now) resolve({ status: 200, elapsedMs: 1, ...now });
    else this.open.push(opened);
    return promise;
  }
}
