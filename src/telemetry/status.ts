/** The running agent as one record, which `tailrace status`, `top` and the status page show. Pure; holds no secret. */
import { version } from '../core/version.ts';
import {
  findImbalance,
  type Observed,
  type ObservedBlock,
  type ObservedSink,
  type ObservedSource,
  type RefusedPaths,
  type Waiting,
} from './observed.ts';

export interface SinkStatus {
  readonly id: string;
  /**
   * `delivering`, or what keeps it from that: the service fails (`retrying`), refuses (`paused`), a token is missing, or batches wait because their
   * refused events cannot be kept as dead letters (`blocked`).
   */
  readonly state: 'delivering' | 'retrying' | 'paused' | 'missing' | 'blocked';
  /** The problem, with the HTTP status or the network error; absent while it delivers. */
  readonly reason?: string;
  readonly fix?: string | undefined;
  /** RFC 3339; absent before the first answer that stored events. */
  readonly lastSuccess?: string;
  /** Absent before the first request. `none` is a request that had no answer. */
  readonly lastAnswer?: { readonly status: string; readonly at: string };
  readonly requests: number;
  /** What the answered ones took together. */
  readonly requestSeconds: number;
  /** Requests by HTTP status, or `none`. */
  readonly answers: Readonly<Record<string, number>>;
  readonly retries: number;
  readonly retryReasons: Readonly<Record<string, number>>;
  readonly memoryBytes: number;
  /** Of events in that memory, as they were read. */
  readonly queuedBytes: number;
  readonly diskBytes: number;
  readonly ingested: number;
  readonly failed: number;
  /** Events by reason. */
  readonly deadLetters: Readonly<Record<string, number>>;
}

export interface SourceStatus {
  readonly id: string;
  /** Files or connections by state. */
  readonly files: Readonly<Record<string, number>>;
  readonly readBytes: number;
  readonly lagBytes: number;
  readonly lostBytes: number;
  readonly accepted: number;
  readonly delivered: number;
  readonly deadLettered: number;
  readonly dropped: number;
  readonly filtered: number;
  readonly held: number;
  /** RFC 3339: when the oldest of those held was read; to within `max_age` of a batch. */
  readonly oldestUnsent?: string;
  /** Set while reading waits for a sink. */
  readonly waiting?: Waiting;
  /** Links that are not followed and private files, one of them by name; absent where there are none. */
  readonly refused?: RefusedPaths;
}

export interface Status {
  readonly version: string;
  readonly pid: number;
  /** Wall clock of this record, milliseconds. */
  readonly nowMs: number;
  readonly uptimeSeconds: number;
  readonly config: Observed['config'];
  /** False while something needs a person: a sink that is paused or whose service is away, or accounting that is off. */
  readonly ok: boolean;
  readonly accounting: { readonly balanced: boolean; readonly problems: readonly string[] };
  readonly sources: readonly SourceStatus[];
  readonly sinks: readonly SinkStatus[];
  readonly deadLetterBytes: number;
  /** Why positions cannot be saved; absent while they can. */
  readonly unsaved?: string;
}

export function statusOf(observed: Observed): Status {
  const problems = findImbalance(observed);
  const sinks = observed.sinks.map(describeSink);
  return {
    version,
    pid: process.pid,
    nowMs: Date.now(),
    uptimeSeconds: Math.round(process.uptime()),
    config: observed.config,
    ok: problems.length === 0 && sinks.every(({ state }) => state === 'delivering') && observed.checkpointRefusal === undefined,
    accounting: { balanced: problems.length === 0, problems },
    sources: observed.sources.map(describeSource),
    sinks,
    deadLetterBytes: observed.deadLetterBytes,
    ...(observed.checkpointRefusal === undefined
      ? {}
      : { unsaved: `${observed.checkpointRefusal.reason}; ${observed.checkpointRefusal.fix}` }),
  };
}

function describeSource({ id, stats, accepted, settled, held, oldestHeldMs, waiting, refused }: ObservedSource): SourceStatus {
  const { files, readBytes, lagBytes, lostBytes } = stats;
  const { delivered, dead_lettered: deadLettered, dropped, filtered } = settled;
  const all = { id, files, readBytes, lagBytes, lostBytes, accepted, delivered, deadLettered, dropped, filtered, held };
  return {
    ...all,
    ...(oldestHeldMs === undefined ? {} : { oldestUnsent: new Date(oldestHeldMs).toISOString() }),
    ...(waiting === undefined ? {} : { waiting }),
    ...(refused === undefined ? {} : { refused }),
  };
}

function describeSink(sink: ObservedSink): SinkStatus {
  const { id, lastStoredMs, lastAnswer, memoryBytes, queuedBytes, diskBytes } = sink;
  return {
    id,
    ...stateOf(sink),
    ...(lastStoredMs === undefined ? {} : { lastSuccess: new Date(lastStoredMs).toISOString() }),
    ...(lastAnswer === undefined ? {} : { lastAnswer: { status: lastAnswer.status, at: new Date(lastAnswer.atMs).toISOString() } }),
    requests: sum(sink.requests),
    requestSeconds: sink.requestSeconds.sum,
    answers: Object.fromEntries(sink.requests),
    retries: sum(sink.retries),
    retryReasons: Object.fromEntries(sink.retries),
    memoryBytes,
    queuedBytes,
    diskBytes,
    ingested: sum(sink.ingested),
    failed: sum(sink.failed),
    deadLetters: Object.fromEntries(sink.deadLetters),
  };
}

/** The state in words: `blocked: dead letters full`. */
export function describeState({ state, reason }: Pick<SinkStatus, 'state' | 'reason'>): string {
  return state === 'blocked' ? `blocked: ${reason?.split(':', 1)[0] ?? ''}` : state;
}

function stateOf(sink: ObservedSink): Pick<SinkStatus, 'state' | 'reason' | 'fix'> {
  const { missing, pauses, blocked, lastFailure, lastFailureFix: fix } = sink;
  if (missing) return { state: 'missing', reason: missing.detail, fix: missing.fix };
  const [pause] = pauses;
  if (pause) return { state: 'paused', reason: `dataset "${pause[0]}": ${pause[1].detail}`, fix: pause[1].fix };
  if (blocked) return { state: 'blocked', reason: describeBlock(blocked), fix: blocked.fix };
  if (lastFailure === undefined) return { state: 'delivering' };
  if (fix === undefined) return { state: 'retrying', reason: lastFailure };
  // Some reasons end in their fix, which stands alone here.
  return { state: 'retrying', reason: lastFailure.replace(`: ${fix}`, ''), fix };
}

/** `dead letters full: 2 batches with 3 refused events wait, …` */
export function describeBlock({ isFull, batches, events, reason }: ObservedBlock): string {
  const what = `${batches} ${batches === 1 ? 'batch' : 'batches'} with ${events} refused ${events === 1 ? 'event' : 'events'}`;
  return `dead letters ${isFull ? 'full' : 'refused by the disk'}: ${what} ${batches === 1 ? 'waits' : 'wait'}, others are sent; ${reason}`;
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}
