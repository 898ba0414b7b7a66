/** The running agent as one record, which `tailrace status`, `top` and the status page show. Pure; holds no secret. */
import { version } from '../core/version.ts';
import type { FactTable } from '../core/sink.ts';
import {
  findImbalance,
  type Observed,
  type ObservedBlock,
  type ObservedSink,
  type ObservedSource,
} from './observed.ts';
import { type Fact, SINK_STATS, SOURCE_STATS, valuesOf } from './stats.ts';

export type SinkStatus = ReturnType<typeof describeSink>;
export type SourceStatus = ReturnType<typeof describeSource>;
export type Status = ReturnType<typeof statusOf>;

export function statusOf(observed: Observed) {
  const problems = findImbalance(observed);
  const sinks = observed.sinks.map((sink) => describeSink(sink, observed.facts));
  const { config, checkpointRefusal, deadLetterBytes } = observed;
  return {
    version,
    pid: process.pid,
    /** Wall clock of this record, milliseconds. */
    nowMs: Date.now(),
    uptimeSeconds: Math.round(process.uptime()),
    config,
    /** False while something needs a person: a sink that is paused or whose service is away, or accounting that is off. */
    ok: problems.length === 0 && sinks.every(({ state }) => state === 'delivering') && checkpointRefusal === undefined,
    accounting: { balanced: problems.length === 0, problems },
    sources: observed.sources.map(describeSource),
    sinks,
    deadLetterBytes,
    /** Why positions cannot be saved; absent while they can. */
    unsaved: checkpointRefusal && `${checkpointRefusal.reason}; ${checkpointRefusal.fix}`,
  };
}

function describeSource(source: ObservedSource) {
  const { id, stats, oldestHeldMs, waiting, refused } = source;
  /** When the oldest of those held was read; to within `max_age` of a batch. */
  const oldestUnsent = timeOf(oldestHeldMs);
  return { id, files: stats.files, ...valuesOf(SOURCE_STATS, source), waiting, refused, oldestUnsent };
}

function describeSink(sink: ObservedSink, facts: FactTable) {
  const { id, lastStoredMs, lastAnswer } = sink;
  return {
    id,
    ...stateOf(sink),
    ...valuesOf(SINK_STATS, sink),
    /** Absent before the first answer that stored events. */
    lastSuccess: timeOf(lastStoredMs),
    /** Absent before the first request. `none` is a request that had no answer. */
    lastAnswer: lastAnswer && { status: lastAnswer.status, at: new Date(lastAnswer.atMs).toISOString() },
    /** What the answered ones took together. */
    requestSeconds: sink.requestSeconds.sum,
    /** Requests by HTTP status, or `none`. */
    answers: Object.fromEntries(sink.requests),
    retryReasons: Object.fromEntries(sink.retries),
    /** Events by reason. */
    deadLetters: Object.fromEntries(sink.deadLetters),
    facts: Object.entries(facts).flatMap(([name, [, said]]): Fact | [] => {
      const value = sink.facts.get(name);
      return said === undefined || value === undefined ? [] : { said, value, isBytes: name.includes('_bytes') };
    }),
  };
}

/** RFC 3339. */
const timeOf = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString();

/** The state in words: `blocked: dead letters full`. */
export function describeState({ state, reason }: SinkState): string {
  return state === 'blocked' ? `blocked: ${reason?.split(':', 1)[0] ?? ''}` : state;
}

/**
 * `delivering`, or what keeps it from that: the service fails (`retrying`), refuses (`paused`), a token is missing, or batches wait because their
 * refused events cannot be kept as dead letters (`blocked`). The reason has the HTTP status or the network error.
 */
interface SinkState {
  readonly state: 'delivering' | 'retrying' | 'paused' | 'missing' | 'blocked';
  readonly reason?: string;
  readonly fix?: string | undefined;
}

function stateOf(sink: ObservedSink): SinkState {
  const { missing, pauses, blocked, lastFailure, lastFailureFix: fix } = sink;
  if (missing) return { state: 'missing', reason: missing.detail, fix: missing.fix };
  const [pause] = pauses;
  if (pause) return { state: 'paused', reason: `dataset "${pause[0]}": ${pause[1].detail}`, fix: pause[1].fix };
  if (blocked) return { state: 'blocked', reason: describeBlock(blocked), fix: blocked.fix };
  if (lastFailure === undefined) return { state: 'delivering' };
  if (fix === undefined) return { state: 'retrying', reason: lastFailure };
  // Some reasons end in their fix, which is a field of its own here.
  return { state: 'retrying', reason: lastFailure.replace(`: ${fix}`, ''), fix };
}

/** `dead letters full: 2 batches with 3 refused events wait, …` */
export function describeBlock({ isFull, batches, events, reason }: ObservedBlock): string {
  const what = `${batches} ${batches === 1 ? 'batch' : 'batches'} with ${events} refused ${events === 1 ? 'event' : 'events'}`;
  return `dead letters ${isFull ? 'full' : 'refused by the disk'}: ${what} ${batches === 1 ? 'waits' : 'wait'}, others are sent; ${reason}`;
}
