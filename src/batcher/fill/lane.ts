/**
 * The lane of one source: offers each block to every sink that the source feeds, and keeps the source's accounting. With
 * several sinks, each takes the block in turn; after a restart, only the sinks that lag get the older bytes.
 */
import type { Block, Lane } from '../../core/block.ts';
import { StoppedError } from '../../core/errors.ts';
import { windowAt } from '../block-events.ts';
import type { Accounting } from '../accounting.ts';
import type { KernelCounts } from './shape-chunk.ts';
import type { Route } from './router.ts';

export interface LaneOptions {
  readonly accounting: Accounting;
  readonly routes: readonly Route[];
  /** The source reads files: positions in its streams are kept. */
  readonly isTracked: boolean;
  /** Streams whose file was deleted; undefined for a source that can reread none. Live: a file may be deleted while its block waits. */
  readonly deleted?: ReadonlySet<string> | undefined;
  /** Up to where each sink has committed the stream, in this process or an earlier one. */
  readonly streams: { markOf(stream: string, owner: string): { readonly committedTo: number } | undefined };
  /** Backpressure of the source under its former configuration, in milliseconds. */
  readonly waitedMs?: number;
}

export class SourceLane implements Lane {
  readonly #options: LaneOptions;
  /** Routes of the next block. The current block keeps its former routes, less those of a removed sink. */
  routes: readonly Route[];
  /** Events of the current block that at least one sink has taken and another has not. */
  #inHand: { from: number; to: number } | undefined;
  #turn: Promise<void> = Promise.resolve();
  /** Sees each block before the sinks do; undefined without a tap. */
  tap: ((block: Block) => void) | undefined;
  #waitedMs = 0;
  /** Set while a sink has no memory for the current block. */
  #wait: { readonly route: Route; readonly stream: string; readonly elapsedMs: () => number } | undefined;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.routes = options.routes;
    this.#waitedMs = options.waitedMs ?? 0;
  }

  /** Serializes the blocks of a source: its connections offer them concurrently. */
  accept(block: Block): Promise<void> {
    const turn = this.#turn.then(() => this.#accept(block));
    this.#turn = turn.catch(() => {});
    return turn;
  }

  /** Resolves once every block offered so far is taken or rejected. */
  async idle(): Promise<void> {
    await this.#turn;
  }

  rest(): void {
    for (const { batcher } of this.routes) batcher.open.closeEarly();
  }

  /** Milliseconds that blocks waited for memory, including the current wait. */
  get backpressureMs(): number {
    return this.#waitedMs + (this.#wait?.elapsedMs() ?? 0);
  }

  /** The sink that the source is waiting for, and for how long so far; undefined while it is not waiting. */
  get waiting():
    | { readonly sink: string; readonly dataset: string; readonly rereadable: boolean; readonly forMs: number }
    | undefined {
    if (!this.#wait) return undefined;
    const { route, stream, elapsedMs } = this.#wait;
    return {
      sink: route.sink,
      dataset: route.dataset,
      rereadable: route.shaper?.isDeterministic !== false && this.#isRereadable(stream),
      forMs: elapsedMs(),
    };
  }

  /** Ranges of event numbers that are accepted but not in a batch of every sink yet. */
  held(): readonly (readonly [from: number, to: number])[] {
    return this.#inHand ? [[this.#inHand.from, this.#inHand.to]] : [];
  }

  async #accept(block: Block): Promise<void> {
    this.tap?.(block);
    let start = block.start;
    for (const { end, routes } of this.#parts(block)) {
      try {
        if (routes.length > 0)
          await this.#offer(block, start, end, [...routes, ...(await newRoutes(routes, block, start, end))]);
      } catch (error) {
        throw error instanceof StoppedError ? new StoppedError(error.remainingBytes + block.end - end) : error;
      }
      start = end;
    }
  }

  async #offer(block: Block, start: number, end: number, routes: readonly Route[]): Promise<void> {
    const { accounting, isTracked } = this.#options;
    const firstEvent = accounting.accepted;
    const isRereadable = (): boolean =>
      this.#isRereadable(block.stream) && (block.continued?.every(({ stream }) => this.#isRereadable(stream)) ?? true);
    let sinks = routes.length;
    for (const route of routes) {
      let next = firstEvent;
      const isLast = route === routes.at(-1);
      const taken = (nextEvent: number, { replaced, unknownZones }: KernelCounts, errors = 0): void => {
        next = nextEvent;
        accounting.transformErrors += errors;
        if (nextEvent > accounting.accepted) {
          accounting.accept(nextEvent - accounting.accepted, sinks);
          accounting.invalidCharacters += replaced;
          accounting.unknownZones += unknownZones;
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
        chunks: route.router?.chunksOf(route),
        taken,
        waits,
        waited: this.#waited,
      };
      try {
        await route.batcher.take(intake);
      } catch (error) {
        if (!(error instanceof StoppedError) || this.routes.some(({ sink }) => sink === route.sink)) throw error;
        // A reload removed the sink: the outcome of its remaining events depends on the other sinks.
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

  #isRereadable(stream: string): boolean {
    return this.#options.deleted?.has(stream) === false;
  }

  /** Cuts the block at each sink's own position; each part goes to the sinks that still need it. */
  #parts(block: Block): { end: number; routes: readonly Route[] }[] {
    const routes = this.routes.flatMap((route) => route.router?.routes() ?? [route]);
    const positions = routes.map(
      ({ sink, owner }) => this.#options.streams.markOf(block.stream, owner ?? sink)?.committedTo ?? 0,
    );
    if (positions.every((position) => position <= block.offset)) return [{ end: block.end, routes }];
    if (block.single) {
      const { length } = block.single;
      return [{ end: block.end, routes: routes.filter((_, index) => positions[index]! < block.offset + length) }];
    }
    const places = positions.map((position) => windowAt(block, position));
    const cuts = [...new Set([...places, block.end])].filter((cut) => cut > block.start).sort((a, b) => a - b);
    return cuts.map((end) => ({ end, routes: routes.filter((_, index) => places[index]! < end) }));
  }
}

/** Routes to datasets that this part of the block names for the first time. */
async function newRoutes(routes: readonly Route[], block: Block, start: number, end: number): Promise<Route[]> {
  const found: Route[] = [];
  for (const router of new Set(routes.map((route) => route.router)))
    if (router) found.push(...(await router.shape(block, start, end)));
  return found;
}
