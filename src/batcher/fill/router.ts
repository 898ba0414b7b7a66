/**
 * Routes one source's events to the datasets of one sink by `to_dataset`. The lane treats each dataset like a sink: it gets every block
 * of a stream, keeps its own low-water marks, and takes only its events. A block is shaped once, before the first dataset takes it, so
 * that a new dataset is on disk before any event of the block is taken.
 */
import type { Block } from '../../core/block.ts';
import { datasetOwner } from '../../core/owner.ts';
import type { EventsIn, Shaped, Shaper } from '../../core/shaping.ts';
import type { Batcher } from './batcher.ts';
import { partOf } from './dataset-part.ts';
import type { Route, RouteGroup } from './route.ts';

export interface RouterOptions {
  readonly source: string;
  readonly sink: string;
  /** Names the marks of the sink's own dataset. */
  readonly base: string;
  /** The sink's own dataset. */
  readonly dataset: string;
  readonly batcher: Batcher;
  readonly shaper: Shaper;
  readonly datasets: DatasetRegistry;
  /** Told how many events name a dataset that cannot be one, or is one too many. */
  readonly misrouted: (events: number) => void;
}

/** The datasets of each sink, over restarts. */
export interface DatasetRegistry {
  /** The datasets used so far under these rules. */
  of(base: string): readonly string[];
  /** Adds a dataset durably; false where it cannot be added. */
  add(base: string, dataset: string): boolean;
}

export class Router implements RouteGroup {
  readonly #options: RouterOptions;
  readonly #routes = new Map<string, Route>();
  /** Of the part that was prepared last: its pieces as they were shaped, and how many of them each dataset has taken. */
  #pieces: Shaped[] = [];
  readonly #taken = new Map<string, number>();

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  routes(): readonly Route[] {
    const { base, dataset, datasets } = this.#options;
    return [dataset, ...datasets.of(base)].map((name) => this.#routeTo(name));
  }

  async prepare(block: Block, start: number, end: number): Promise<readonly Route[]> {
    const { batcher, shaper, source } = this.#options;
    this.#pieces = [];
    this.#taken.clear();
    const before = this.routes();
    await batcher.shapeAhead(block, start, end, source, {
      ...shaper,
      shape: async (events) => {
        const shaped = await shaper.shape(events);
        this.#pieces.push(this.#named(copyOf(shaped)));
        return shaped;
      },
    });
    return this.routes().filter((route) => !before.includes(route));
  }

  #routeTo(name: string): Route {
    const known = this.#routes.get(name);
    if (known) return known;
    const { base, dataset, sink, batcher, shaper } = this.#options;
    const isOwn = name === dataset;
    const own: Shaper = {
      digest: shaper.digest,
      isDeterministic: shaper.isDeterministic,
      hidesFields: shaper.hidesFields,
      shape: (events) => this.#part(name, events),
    };
    const route = { sink, owner: isOwn ? base : datasetOwner(base, name), dataset: name, batcher, shaper: own, router: this };
    this.#routes.set(name, route);
    return route;
  }

  /** What of the next piece goes to the dataset. */
  #part(name: string, { count }: EventsIn): Shaped {
    const isOwn = name === this.#options.dataset;
    const at = this.#taken.get(name) ?? 0;
    this.#taken.set(name, at + 1);
    const piece = this.#pieces[at];
    if (piece?.sent.length !== count) throw new Error('a part of a block is taken otherwise than it was shaped');
    return partOf(piece, (dataset) => (dataset === undefined ? isOwn : dataset === name), isOwn);
  }

  /** Replaces dataset names that cannot be used by the sink's own. */
  #named(shaped: Shaped): Shaped {
    const { base, dataset: own, datasets, misrouted } = this.#options;
    if (!shaped.routes) return shaped;
    const known = new Set(datasets.of(base));
    const refused = new Set<string>();
    let errors = 0;
    const names = shaped.routes.datasets.map((name) => {
      if (name === undefined || name === own) return undefined;
      if (!known.has(name) && !refused.has(name)) (datasets.add(base, name) ? known : refused).add(name);
      if (known.has(name)) return name;
      errors += 1;
      return undefined;
    });
    if (errors > 0) misrouted(errors);
    return { ...shaped, routes: { ...shaped.routes, datasets: names } };
  }
}

/** The shaper's own is overwritten by the next call. */
function copyOf(shaped: Shaped): Shaped {
  const { bytes, ends, routes } = shaped;
  const length = routes?.ends.at(-1) ?? ends.at(-1) ?? 0;
  const own = routes && { ...routes, ends: routes.ends.slice(), origins: routes.origins.slice() };
  return { ...shaped, bytes: Buffer.from(bytes.subarray(0, length)), ...(own ? { routes: own } : {}) };
}
