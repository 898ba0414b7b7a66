/** A sink as the batcher sees it: it sends one request and classifies the answer. It never retries and never waits. */

/**
 * Results of a request besides its events, by the name of a metric that the sink's type declares: added up if the name ends in `_total`,
 * else the last one counts.
 */
export type Facts = Readonly<Record<string, number>>;

/** The metrics of facts, by what they count, and what `status`, `top` and the status page say behind the number; these show no other. */
export type FactTable = Readonly<Record<string, readonly [help: string, said?: string]>>;

/** One event that the service did not store. `index` is its 0-based place in the request, where the service reports it. */
export interface NamedFailure {
  readonly index: number | undefined;
  /** The event's time as the service read it; empty where it reports none. */
  readonly timestamp: string;
  readonly error: string;
}

/**
 * The form in which a batch's events are sent and read back. A batch keeps its form over reloads and in the disk buffer, because its key
 * identifies its events in that form. Plain data, which spool files hold and only the sink's type reads.
 */
export type BodyForm = object;

/** How one type of sink writes bodies that are not NDJSON. */
export interface BodyForms<Config, Form extends BodyForm = BodyForm> {
  formOf(config: Config): Form;
  /** Text that differs when the same events would be stored differently: a part of a batch's key. For plain NDJSON it is `ndjson`. */
  nameOf(form: Form): string;
  /** Encodes NDJSON (every line ends in a newline) as a body before compression; undefined sends it as it is. Pure. */
  encoderOf(form: Form): ((ndjson: Buffer) => Uint8Array) | undefined;
}

/** One request's worth of events. */
export interface SinkRequest {
  /** The Idempotency-Key: the same events keep it over retries and restarts, other events never get it. */
  readonly key: string;
  readonly dataset: string;
  readonly events: number;
  readonly body: Uint8Array;
  readonly encoding: Encoding;
  /** When the first event of its batch was read, wall clock in milliseconds: the same after a restart. Undefined where nobody knows any more. */
  readonly readAtMs?: number | undefined;
  /** The form of `body`; by default the one that the sink is configured with. */
  readonly form?: BodyForm | undefined;
}

export type Encoding = 'gzip' | 'zstd' | 'identity';

/** How bodies are to be compressed. `auto`: by zstd where the service stores it, else by gzip, else not. */
export type CompressionSetting = 'auto' | 'gzip' | 'zstd' | 'none';

/**
 * What an answer means (docs/delivery.md).
 *
 * - `delivered`: the service has stored every event.
 * - `partial`: it has stored all but `failed` events, some or all of which `failures` names.
 * - `retry`: try again after a backoff, or after `afterMs` where the service asked for it; `fix`: what a person can do, where that is known (`detail` ends with it).
 * - `pause`: send nothing of this dataset until a probe succeeds; `isFinal`: none will, as long as this process lives.
 * - `halve`: the request is too large; its halves may not be.
 * - `bisect`: something in the request, or (415) its encoding, is refused; halves find out what.
 */
export type Outcome =
  | ({ readonly kind: 'delivered' } & Stored)
  | ({
      readonly kind: 'partial';
      readonly failed: number;
      readonly failures: readonly NamedFailure[];
      readonly detail: string;
    } & Stored)
  | {
      readonly kind: 'retry';
      readonly reason: RetryReason;
      readonly detail: string;
      readonly afterMs?: number;
      readonly fix?: string | undefined;
      /** The service says that it stored none of the events. */
      readonly isUnstored?: boolean;
    }
  | {
      readonly kind: 'pause';
      readonly reason: PauseReason;
      readonly detail: string;
      readonly fix: string;
      readonly isFinal?: boolean;
    }
  | { readonly kind: 'halve' | 'bisect'; readonly detail: string };

export interface Stored {
  /** Events. */
  readonly stored: number;
  readonly facts?: Facts;
}

/** `token_changed` and `dataset_created`: resend at once, the token or dataset is available now. */
type RetryReason =
  | 'rate_limited'
  | 'timeout'
  | 'server_error'
  | 'network'
  | 'bad_answer'
  | 'token_changed'
  | 'dataset_created';
export type PauseReason = 'unauthorized' | 'not_found' | 'unwritable';

export interface SendResult {
  readonly outcome: Outcome;
  /** HTTP status, or 0 where no answer came; absent where the sink speaks no HTTP. */
  readonly status?: number | undefined;
  readonly elapsedMs: number;
  /** Why nothing was sent: there was nothing to sign it with, or no connection to send it on. Absent where it was. */
  readonly unsent?: 'unsigned' | 'unconnected';
  /** No answer came, and the service may have stored the events. */
  readonly mayBeStored?: boolean;
}

export interface Sink {
  readonly id: string;
  /** The address of its requests, as far as it is known; never shown. */
  readonly address?: string | undefined;
  /** `encoderOf` of its type's forms; absent where all bodies are NDJSON. */
  encoderOf?(form: BodyForm): ((ndjson: Buffer) => Uint8Array) | undefined;
  /** Sends once. Rejects only when `signal` aborts. */
  send(request: SinkRequest, signal: AbortSignal): Promise<SendResult>;
  /** Resolves when the token file changed since the last request, or when `signal` aborts. Absent where the token is in no file. */
  tokenChange?(signal: AbortSignal): Promise<void>;
  /** Its tokens and passwords, those of late included: nothing that is shown may hold them. */
  secrets?(): readonly string[];
  /** A missing precondition of sending, such as a token. */
  missing?(): { readonly detail: string; readonly fix: string } | undefined;
  close(): Promise<void>;
}

/** An event that no retry delivers: kept with the reason (state/dead-letters). */
export interface DeadLetter {
  readonly sink: string;
  readonly dataset: string;
  readonly source: string;
  readonly stream: string;
  /** Stream offsets of the span that holds the event, and the event's place in it. */
  readonly spanOffset: number;
  readonly spanEnd: number;
  readonly eventInSpan: number;
  /** Its place among the events that a transform made of that one, where it made several. */
  readonly sub?: number;
  /** `rejected`, `too_large`, `unresolved` (bisecting gave up), `expired` (max_elapsed) or `transform_failed`. */
  readonly reason: DeadLetterReason;
  /** The service's message. */
  readonly detail: string;
  /** HTTP status of the answer; 0 where none came. */
  readonly status: number;
  readonly key: string;
  /** The event's bytes as they were sent, without the newline. */
  readonly event: Uint8Array;
}

export type DeadLetterReason = 'rejected' | 'too_large' | 'unresolved' | 'expired' | 'transform_failed';

/** The place of each failure among the events of its request: by `index`, else by a time that only one of them has; undefined where neither tells. */
export function placesOf(events: readonly Buffer[], failures: readonly NamedFailure[]): (number | undefined)[] {
  const byTime = failures.every(({ index }) => index !== undefined)
    ? undefined
    : Map.groupBy(events.keys(), (place) => timeOf(events[place]!));
  return failures.map(({ index, timestamp }) => {
    const instant = instantOf(timestamp);
    const same = instant === '' ? [] : (byTime?.get(instant) ?? []);
    const place = index ?? (same.length === 1 ? same[0]! : -1);
    return Number.isInteger(place) && place >= 0 && place < events.length ? place : undefined;
  });
}

function timeOf(event: Buffer): string {
  try {
    const parsed = JSON.parse(event.toString('utf8')) as { _time?: unknown };
    return typeof parsed._time === 'string' ? instantOf(parsed._time) : '';
  } catch {
    return '';
  }
}

/** One spelling for one instant: nanosecond digits are kept, trailing zeros and the zone's spelling are not. */
function instantOf(text: string): string {
  const match = /^(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:?\d{2})$/i.exec(text);
  if (!match) return '';
  const seconds = Date.parse(`${match[1]!.replace(' ', 'T')}${match[3]!.toUpperCase()}`);
  return Number.isNaN(seconds) ? '' : `${seconds}.${(match[2] ?? '').replace(/0{1,9}$/, '')}`;
}
