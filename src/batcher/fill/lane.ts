/**
 * The lane of one source: offers each block to every sink that the source feeds, and keeps the source's accounting. With
 * several sinks, each takes the block in turn; a sink that is further behind after a restart gets the older bytes alone.
 */
import type { Block, Lane } from '../../core/block.ts';
import { StoppedError } from '../../core/errors.ts';
import { windowAt } from '../block-events.ts';
import type { Accounting } from '../accounting.ts';
import type { Route } from './route.ts';

export interface LaneOptions {
  readonly accounting: Accounting;
  readonly routes: readonly Route[];
  /** The source reads files: positions in its streams are kept. */
  readonly isTracked: boolean;
  /** True where what is read of the stream can be read again. Asked anew at every step: a file may be deleted while it waits. */
  isRereadable(stream: string): boolean;
  /** Up to where the sink has the stream already (committed by this or an earlier process). */
  committedTo(owner: string, stream: string): number | undefined;
  /** Milliseconds that the source waited before, with another configuration. */
  readonly waitedMs?: number;
}

export class SourceLane implements Lane {
  readonly #options: LaneOptions;
  /** Where blocks go from now on. The block under way still goes to the former routes, except to a sink that was removed. */
  routes: readonly Route[];
  /** Events of the block under way that some sink has accepted and another has not taken yet. */
  #inHand: { from: number; to: number } | undefined;
  #turn: Promise<void> = Promise.resolve();
  /** Looks at blocks before they are taken; undefined while nobody taps. */
  tap: ((block: Block) => void) | undefined;
  #waitedMs = 0;
  /** Set while a sink has no room for the block under way. */
  #wait: { readonly route: Route; readonly stream: string; readonly elapsedMs: () => number } | undefined;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.routes = options.routes;
    this.#waitedMs = options.waitedMs ?? 0;
  }

  /** Blocks of one source enter one after the other, also when its connections offer them side by side. */
  accept(block: Block): Promise<void> {
    const turn = this.#turn.then(() => this.#accept(block));
    this.#turn = turn.catch(() => {});
    return turn;
  }

  /** Resolves when the blocks that were offered so far are taken, or turned away. */
  async idle(): Promise<void> {
    await this.#turn;
  }

  rest(): void {
    for (const { batcher } of this.routes) batcher.closeEarly();
  }

  /** Milliseconds that blocks waited for room, the wait under way included. */
  get backpressureMs(): number {
    return this.#waitedMs + (this.#wait?.elapsedMs() ?? 0);
  }

  /** The sink that the source waits for now, and for how many milliseconds by now; undefined while it does not wait. */
  get waiting(): { readonly sink: string; readonly dataset: string; readonly rereadable: boolean; readonly forMs: number } | undefined {
    if (!this.#wait) return undefined;
    const { route, stream, elapsedMs } = this.#wait;
    return {
      sink: route.sink,
      dataset: route.dataset,
      rereadable: route.shaper?.isDeterministic !== false && this.#options.isRereadable(stream),
      forMs: elapsedMs(),
    };
  }

  /** Event numbers that are accepted but not in a batch of every sink yet. */
  held(): readonly (readonly [from: number, to: number])[] {
    return this.#inHand ? [[this.#inHand.from, this.#inHand.to]] : [];
  }

  async #accept(block: Block): Promise<void> {
    this.tap?.(block);
    let start = block.start;
    for (const { end, routes } of this.#parts(block)) {
      try {
        if (routes.length > 0) await this.#offer(block, start, end, [...routes, ...(await newRoutes(routes, block, start, end))]);
      } catch (error) {
        throw error instanceof StoppedError ? new StoppedError(error.leftBytes + block.end - end) : error;
      }
      start = end;
    }
  }

  async #offer(block: Block, start: number, end: number, routes: readonly Route[]): Promise<void> {
    const { accounting, isTracked } = this.#options;
    const firstEvent = accounting.accepted;
    const isRereadable = (): boolean => this.#isRereadable(block);
    let sinks = routes.length;
    for (const route of routes) {
      let next = firstEvent;
      const isLast = route === routes.at(-1);
      const taken = (nextEvent: number, replaced: number, errors = 0): void => {
        next = nextEvent;
        accounting.transformErrors += errors;
        if (nextEvent > accounting.accepted) {
          accounting.accept(nextEvent - accounting.accepted, sinks);
          accounting.invalidCharacters += replaced;
        }
        if (routes.length > 1) this.#inHand = { from: isLast ? nextEvent : firstEvent, to: accounting.accepted };
      };
      const waits = (elapsedMs: () => number): void => {
        this.#wait = { route, stream: block.stream, elapsedMs };
      };
      const { dataset, owner, shaper } = route;
      const intake = {
        accounting,
        block,
        dataset,
        owner,
        isTracked,
        isRereadable,
        start,
        end,
        firstEvent,
        shaper,
        taken,
        waits,
        waited: this.#waited,
      };
      try {
        await route.batcher.take(intake);
      } catch (error) {
        if (!(error instanceof StoppedError) || this.routes.some(({ sink }) => sink === route.sink)) throw error;
        // A reload removed the sink, so the other ones alone decide what becomes of the rest.
        sinks -= 1;
        if (accounting.accepted > next) accounting.settle(next, accounting.accepted, 'filtered');
      }
    }
    this.#inHand = undefined;
  }

  readonly #waited = (ms: number): void => {
    this.#wait = undefined;
    this.#waitedMs += ms;
  };

  #isRereadable({ stream, continued }: Block): boolean {
    return this.#options.isRereadable(stream) && (continued?.every((range) => this.#options.isRereadable(range.stream)) ?? true);
  }

  /** The block cut where a sink's own position lies inside it, each part with the sinks that still need it. */
  #parts(block: Block): { end: number; routes: readonly Route[] }[] {
    const routes = this.routes.flatMap((route) => route.router?.routes() ?? [route]);
    const positions = routes.map(({ sink, owner }) => this.#options.committedTo(owner ?? sink, block.stream) ?? 0);
    if (positions.every((position) => position <= block.offset)) return [{ end: block.end, routes }];
    if (block.single) {
      const { length } = block.single;
      return [{ end: block.end, routes: routes.filter((_, index) => positions[index]! < block.offset + length) }];
    }
    const places = positions.map((position) => windowAt(block, position - block.offset));
    const cuts = [...new Set([...places, block.end])].filter((cut) => cut > block.start).sort((a, b) => a - b);
    return cuts.map((end) => ({ end, routes: routes.filter((_, index) => places[index]! < end) }));
  }
}

/** Ways to datasets that the part of the block is the first to name. */
async function newRoutes(routes: readonly Route[], block: Block, start: number, end: number): Promise<Route[]> {
  const found: Route[] = [];
  for (const router of new Set(routes.map((route) => route.router))) if (router) found.push(...(await router.prepare(block, start, end)));
  return found;
}
