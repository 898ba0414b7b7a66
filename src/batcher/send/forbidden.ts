/**
 * What to do after a 403. The token may have lost its right: then the dataset is paused and nothing is dropped. Or something between refuses the
 * content of an event (a web application firewall): then only the halves that hold it are refused. The batch is sent in halves; once
 * something of the dataset was stored, an event that is refused alone, and again a minute later while the token works, is a dead letter.
 * A part that an earlier request may have stored is sent whole for a minute before it is cut.
 */
import { FORBIDDEN_APART_MS, MAX_BLIND_PARTS } from '../limits.ts';
import type { Log } from '../../core/log.ts';
import type { Outcome } from '../../core/sink.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { RequestPart } from '../../core/requests.ts';
import type { Batch } from '../batch.ts';
import type { BatchQueue, Pause } from '../queue.ts';
import type { Keeper } from '../store.ts';
import type { Pauses } from './pauses.ts';
import type { Refusals } from './refusals.ts';
import type { InFlightBatch } from './in-flight-batch.ts';

/** What a request without events tells of the token. */
export type TokenState = 'works' | 'refused' | 'unknown';

/** What requests told of the service. */
interface AskedService {
  /** Monotonic milliseconds of the last request of a dataset that stored something. */
  readonly storedByDatasetMs: ReadonlyMap<string, number>;
  /** Sends a request without events. */
  askToken(inFlight: InFlightBatch): Promise<TokenState>;
}

export interface ForbiddenOptions {
  /** Its id, for the log. */
  readonly sink: string;
  readonly service: AskedService;
  readonly queue: BatchQueue;
  readonly keeper: Keeper;
  readonly refusals: Refusals;
  readonly pauses: Pauses;
  readonly log: Log;
  readonly clock: Clock;
}

const CONTENT_OR_TOKEN =
  'the service stored events of this dataset before: either something in front of it (a firewall, a proxy) refuses the content of an event, or the token lost its right; `tailrace check --online` tells which. The batch is sent in parts to find out';

/**
 * Which of the waiting batches of a paused dataset, oldest first, the next probe is of; `count` probes went before. Each third one is of another than
 * the oldest, of which every event may be refused for its content; where that has one event, each second.
 */
export function probeAfterForbidden([oldest, ...others]: readonly Batch[], count: number): Batch | undefined {
  const isOthersTurn = oldest?.events === 1 ? count % 2 === 0 : count % 3 === 2;
  return (isOthersTurn ? others[Math.floor(count / 2) % others.length] : undefined) ?? oldest;
}

export class Forbidden {
  readonly #options: ForbiddenOptions;

  constructor(options: ForbiddenOptions) {
    this.#options = options;
  }

  /** Acts on a 403 for the first part. False where the batch has to wait. */
  async handle(
    inFlight: InFlightBatch,
    part: RequestPart,
    outcome: Extract<Outcome, { kind: 'pause' }>,
  ): Promise<boolean> {
    const { clock, queue, refusals, service, pauses } = this.#options;
    const now = clock.monotonic();
    inFlight.forbiddenAtMs ??= now;
    // Its key alone tells the service that it has these events; the keys of its halves would store them again.
    if (part.count > 1 && inFlight.mayBeStored.has(part.key) && now - inFlight.forbiddenAtMs < FORBIDDEN_APART_MS)
      return this.#pause(inFlight, outcome);
    const storedAtMs = service.storedByDatasetMs.get(inFlight.batch.dataset);
    const isContent = inFlight.isPartlyDone || (storedAtMs ?? -Infinity) > inFlight.forbiddenAtMs;
    if (!isContent && storedAtMs !== undefined && (await this.#isLastOfDataset(inFlight)))
      pauses.end(inFlight.batch.dataset);
    else if (!isContent) {
      // Beyond the bound only the smallest part is cut, so that a refused token makes no dust of a batch.
      const isCut = inFlight.parts.length < MAX_BLIND_PARTS || inFlight.parts.every(({ count }) => count >= part.count);
      if (part.count === 1 || !isCut) inFlight.defer();
      else if (!(await this.#split(inFlight))) return false;
      return this.#pause(inFlight, { ...outcome, ...(storedAtMs === undefined ? {} : { fix: CONTENT_OR_TOKEN }) });
    }
    if (part.count > 1 && !inFlight.isSpent) return this.#split(inFlight);
    if (part.count > 1) {
      inFlight.defer(now + FORBIDDEN_APART_MS);
      return true;
    }
    const sinceMs = inFlight.restsSinceMs(part) ?? -Infinity;
    if (sinceMs === -Infinity) {
      this.#noteSuspect(inFlight, outcome.detail);
      inFlight.defer(now + FORBIDDEN_APART_MS, now);
      return true;
    }
    if (now - sinceMs < FORBIDDEN_APART_MS) {
      inFlight.defer(sinceMs + FORBIDDEN_APART_MS, sinceMs);
      return true;
    }
    const token = await service.askToken(inFlight);
    if (token === 'works') {
      const detail = `${outcome.detail} (refused alone, twice, while the token was accepted)`;
      return refusals.refuse(inFlight, part, { reason: 'rejected', detail, status: 403 });
    }
    inFlight.defer(now + queue.settings.retry.maxBackoffMs, sinceMs);
    return token === 'unknown' || this.#pause(inFlight, outcome);
  }

  /** One event is all that the dataset has: no neighbour can be stored, so that the token alone is asked about. */
  async #isLastOfDataset(inFlight: InFlightBatch): Promise<boolean> {
    const isOne = inFlight.parts.length === 1 && inFlight.parts[0]!.count === 1;
    const { dataset } = inFlight.batch;
    const others = this.#options.queue
      .in('waiting', 'in_flight')
      .filter((batch) => batch !== inFlight.batch && batch.dataset === dataset);
    return isOne && others.length === 0 && (await this.#options.service.askToken(inFlight)) === 'works';
  }

  #split(inFlight: InFlightBatch): Promise<boolean> {
    inFlight.split('forbidden');
    return this.#options.keeper.saveParts(inFlight.batch, inFlight.parts);
  }

  #pause({ batch }: InFlightBatch, pause: Pause): false {
    this.#options.pauses.begin(batch.dataset, pause);
    return false;
  }

  #noteSuspect({ batch }: InFlightBatch, answer: string): void {
    const { log, sink } = this.#options;
    log.warn(
      { sink, dataset: batch.dataset, answer },
      'the content of an event is refused (403) while others are stored; it is sent again in a minute, and becomes a dead letter if it is refused again',
    );
  }
}
