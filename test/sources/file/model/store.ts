/** The service of the model test: it stores, refuses, hangs or loses its replies as its mood says, and knows a key again. */
import type { SinkRequest, SendResult, Sink } from '../../../../src/core/sink.ts';

export type Mood = 'answer' | 'refuse' | 'hang' | 'lose replies' | 'refuse half';

/** A line, or the half of one that was sent unfinished. */
const MESSAGE = /^x*(?:(\d+:a)(?: (?:(\d+:b)x*)?)?|(\d+:b)x*)$/;

export class ModelStore {
  /** How often each token was stored. */
  readonly stored = new Map<string, number>();
  /** Tokens whose sender got the answer. */
  readonly answered = new Set<string>();
  /** Stored texts that nobody wrote so. */
  readonly mangled: string[] = [];
  /** Keys that stood for two different lists of events. */
  readonly misused: string[] = [];
  /** Requests so far. */
  requests = 0;
  #mood: Mood = 'answer';
  readonly #batches = new Map<string, string>();
  readonly #wakers = new Set<() => void>();

  setMood(mood: Mood): void {
    this.#mood = mood;
    for (const wake of this.#wakers) wake();
  }

  /** The sink of one agent; `onRequest` is called with each one, and throws once that agent is dead. */
  sink(onRequest: () => void): Sink {
    return {
      id: 'store',
      send: async (request: SinkRequest, signal: AbortSignal): Promise<SendResult> => {
        onRequest();
        while (this.#mood === 'hang') await this.#change(signal);
        onRequest();
        this.requests += 1;
        if (this.#mood === 'refuse' || (this.#mood === 'refuse half' && this.requests % 2 === 0)) return refused;
        const body = Buffer.from(request.body).toString();
        const tokens = this.#take(request.key, body);
        if (this.#mood === 'lose replies') return refused;
        for (const token of tokens) this.answered.add(token);
        return { outcome: { kind: 'delivered', stored: request.events }, status: 200, elapsedMs: 1 };
      },
      close: () => Promise.resolve(),
    };
  }

  /** Stores a batch unless its key is known. */
  #take(key: string, body: string): string[] {
    // Their `_time` is that of the read.
    const messages = body
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as { message: string }).message]));
    const tokens = messages.flatMap((message) => this.#tokensOf(message));
    const known = this.#batches.get(key);
    if (known === undefined) for (const token of tokens) this.stored.set(token, (this.stored.get(token) ?? 0) + 1);
    else if (known !== messages.join('\n')) this.misused.push(key);
    this.#batches.set(key, messages.join('\n'));
    return tokens;
  }

  #tokensOf(message: string): string[] {
    const [, first, second, alone] = MESSAGE.exec(message) ?? [];
    const isLine = first === undefined || second === undefined || first.slice(0, -1) === second.slice(0, -1);
    const tokens = [first, second, alone].filter((token) => token !== undefined);
    if (!isLine || tokens.length === 0) this.mangled.push(message);
    return tokens;
  }

  async #change(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wakers.add(resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
    this.#wakers.delete(resolve);
    signal.throwIfAborted();
  }
}

const refused: SendResult = {
  outcome: { kind: 'retry', reason: 'server_error', detail: 'told to refuse' },
  status: 503,
  elapsedMs: 1,
};
