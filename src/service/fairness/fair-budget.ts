/**
 * An amount that requests share (bytes, or how many), so that no token takes it all: who holds some already gets at most half of it, and of
 * those that wait, who holds least comes first, then whose last turn is longest ago. Where too many wait, whoever has most of them loses one.
 */
import { ApiError } from '../http/api-error.ts';

export interface Held {
  /** Changes how much is held, if that much is left. False, and unchanged, if not. */
  readonly resize: (amount: number) => boolean;
  /** Gives it back. Idempotent. */
  readonly release: () => void;
}

interface Waiter {
  readonly holder: string;
  readonly amount: number;
  readonly begin: (held: Held) => void;
  readonly refuse: (reason: Error) => void;
}

export class FairBudget {
  readonly #total: number;
  readonly #mostWaiting: number;
  readonly #held = new Map<string, number>();
  readonly #waiters = new Set<Waiter>();
  /** Numbers the turns; by holder, the last one. */
  #turns = 0;
  readonly #lastTurn = new Map<string, number>();
  #used = 0;

  constructor(total: number, mostWaiting = 0) {
    this.#total = total;
    this.#mostWaiting = mostWaiting;
  }

  /** Takes the amount now; undefined where it is not left for this holder. Whoever comes alone gets any amount. */
  tryTake(holder: string, amount: number): Held | undefined {
    return this.#fits(holder, amount) ? this.#take(holder, amount) : undefined;
  }

  /** Waits for its turn. Throws an `ApiError` 429 when too many wait, or the signal's reason. */
  take(holder: string, amount: number, signal?: AbortSignal): Promise<Held> {
    const held = this.tryTake(holder, amount);
    if (held) return Promise.resolve(held);
    if (this.#waiters.size >= this.#mostWaiting) this.#makePlace(holder);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        holder,
        amount,
        begin: (taken) => (signal?.removeEventListener('abort', end), resolve(taken)),
        refuse: (reason) => (signal?.removeEventListener('abort', end), reject(reason)),
      };
      const end = (): void => {
        this.#waiters.delete(waiter);
        reject(signal!.reason as Error);
      };
      signal?.addEventListener('abort', end, { once: true });
      this.#waiters.add(waiter);
    });
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** Held by all together. */
  get used(): number {
    return this.#used;
  }

  #fits(holder: string, amount: number): boolean {
    if (this.#used === 0) return true;
    if (this.#used + amount > this.#total) return false;
    const own = this.#held.get(holder) ?? 0;
    return own === 0 || own + amount <= this.#total / 2;
  }

  #take(holder: string, amount: number): Held {
    let own = amount;
    let isHeld = true;
    this.#add(holder, own);
    return {
      resize: (wanted) => {
        this.#add(holder, -own);
        const fits = isHeld && this.#fits(holder, wanted);
        if (fits) own = wanted;
        this.#add(holder, own);
        if (fits) this.#wake();
        return fits;
      },
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#add(holder, -own);
        this.#wake();
      },
    };
  }

  #add(holder: string, amount: number): void {
    this.#used += amount;
    const left = (this.#held.get(holder) ?? 0) + amount;
    if (left > 0) this.#held.set(holder, left);
    else this.#held.delete(holder);
  }

  /** Refuses the last waiter of the holder that has most. Throws an `ApiError` 429 where that is this one. */
  #makePlace(holder: string): void {
    const crowds = Map.groupBy(this.#waiters, (waiter) => waiter.holder);
    const most = [...crowds.values()].reduce((one, other) => (other.length > one.length ? other : one), []);
    const last = most.at(-1);
    if (last === undefined || most.length <= (crowds.get(holder)?.length ?? 0) + 1) throw tooBusy();
    this.#waiters.delete(last);
    last.refuse(tooBusy());
  }

  #wake(): void {
    const passed = new Set<Waiter>();
    for (;;) {
      const next = this.#nextOf([...this.#waiters].filter((waiter) => !passed.has(waiter)));
      if (!next) break;
      if (!this.#fits(next.holder, next.amount)) passed.add(next);
      else {
        this.#waiters.delete(next);
        this.#lastTurn.set(next.holder, ++this.#turns);
        next.begin(this.#take(next.holder, next.amount));
      }
    }
    if (this.#waiters.size === 0) this.#lastTurn.clear();
  }

  #nextOf(waiters: readonly Waiter[]): Waiter | undefined {
    const heldBy = ({ holder }: Waiter): number => this.#held.get(holder) ?? 0;
    const lastOf = ({ holder }: Waiter): number => this.#lastTurn.get(holder) ?? 0;
    let next = waiters[0];
    for (const each of waiters)
      if (next && (heldBy(each) - heldBy(next) || lastOf(each) - lastOf(next)) < 0) next = each;
    return next;
  }
}

export const tooBusy = (): ApiError => new ApiError(429, 'rate limit exceeded', { 'Retry-After': '1' });
