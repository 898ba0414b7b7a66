/** Creates a dataset that the service does not have, when the configuration allows it: once at a time, and not too often. */
import type { Clock } from '../../core/time/clock.ts';
import { CREATE_DATASET_PAUSE_MS } from './limits.ts';
import type { Outcome } from '../../core/sink.ts';
import { describeAnswer } from '../../client/answer.ts';
import type { HttpOutcome } from '../../client/classify.ts';

export interface CreatorOptions {
  readonly clock: Clock;
  /** Posts `{name}` to the datasets' address. */
  post(body: Uint8Array, secret: string | undefined, signal: AbortSignal): Promise<HttpOutcome>;
}

/** The request that was answered with a 404. */
export interface Missed {
  readonly dataset: string;
  /** Monotonic. */
  readonly sentAtMs: number;
  /** The token that it was sent with. */
  readonly secret: string | undefined;
}

interface Attempt {
  readonly endedAtMs: number;
  /** Why there is no dataset; undefined when there should be one. */
  readonly problem: string | undefined;
}

export class DatasetCreator {
  readonly #options: CreatorOptions;
  readonly #attempts = new Map<string, Attempt>();
  readonly #underWay = new Map<string, Promise<Attempt>>();

  constructor(options: CreatorOptions) {
    this.#options = options;
  }

  /**
   * What to do after a 404 (`missing`): send the request again when the dataset was created since it was sent, else pause
   * with the reason. Rejects only when `signal` aborts.
   */
  async handle(missed: Missed, missing: Outcome, signal: AbortSignal): Promise<Outcome> {
    const { dataset, sentAtMs } = missed;
    const attempt = await this.#ensure(missed, signal);
    if (attempt.problem === undefined && attempt.endedAtMs >= sentAtMs) {
      return { kind: 'retry', reason: 'dataset_created', detail: `the dataset ${dataset} was created`, afterMs: 0 };
    }
    const detail = 'detail' in missing ? missing.detail : '';
    const problem = attempt.problem ?? 'the service created it and does not find it';
    return {
      kind: 'pause',
      reason: 'not_found',
      detail: `${detail}; creating the dataset: ${problem}`,
      fix: 'create the dataset by hand, or give a token that may create datasets; and check url',
    };
  }

  async #ensure({ dataset, sentAtMs, secret }: Missed, signal: AbortSignal): Promise<Attempt> {
    const last = this.#attempts.get(dataset);
    if (last) {
      const isNews = last.problem === undefined && last.endedAtMs >= sentAtMs;
      if (isNews || this.#options.clock.monotonic() - last.endedAtMs < CREATE_DATASET_PAUSE_MS) return last;
    }
    const running = this.#underWay.get(dataset) ?? this.#create(dataset, secret, signal);
    this.#underWay.set(dataset, running);
    try {
      return await running;
    } finally {
      this.#underWay.delete(dataset);
    }
  }

  async #create(dataset: string, secret: string | undefined, signal: AbortSignal): Promise<Attempt> {
    const answer = await this.#options.post(Buffer.from(JSON.stringify({ name: dataset })), secret, signal);
    const attempt = { endedAtMs: this.#options.clock.monotonic(), problem: problemOf(answer) };
    this.#attempts.set(dataset, attempt);
    return attempt;
  }
}

/** 409: another client was faster. */
function problemOf(answer: HttpOutcome): string | undefined {
  if (answer.kind === 'failure') return `${answer.message} (${answer.code || 'no code'})`;
  return (answer.status >= 200 && answer.status < 300) || answer.status === 409
    ? undefined
    : describeAnswer(answer.status, answer.body);
}
