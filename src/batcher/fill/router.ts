/**
 * Routes one source's events to the datasets of one sink by `to_dataset`. The lane treats each dataset like a sink: it gets every block
 * of a stream, keeps its own low-water marks, and takes only its events. A block is shaped once, before the first dataset takes its part,
 * so that a new dataset is on disk before any event of the block is taken.
 */
import type { Block } from '../../core/block.ts';
import { datasetOwner } from '../../core/owner.ts';
import type { Shaped, Shaper } from '../../core/shaping.ts';
import type { Batcher } from './batcher.ts';
import { DatasetPart, OWN } from './dataset-part.ts';
import type { Route, RouteGroup } from './route.ts';
import type { ShapedChunk } from './shape-chunk.ts';

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
  /** Called with the number of events that name an invalid dataset, or one too many. */
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
  readonly #part = new DatasetPart();
  /** The chunks that were shaped last, and by the number of its dataset which of their events go there; absent where all go to the sink's own. */
  #shaped: { readonly chunk: ShapedChunk; readonly parts: readonly (readonly number[])[] | undefined }[] = [];

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  routes(): readonly Route[] {
    const { base, dataset, datasets } = this.#options;
    return [dataset, ...datasets.of(base)].map((name) => this.#routeTo(name));
  }

  async shape(block: Block, start: number, end: number): Promise<readonly Route[]> {
    const { batcher, shaper, source } = this.#options;
    const before = this.routes();
    const known = new Map(before.map(({ dataset }, number) => [dataset, number]));
    this.#shaped = [];
    for await (const chunk of batcher.shape(block, start, end, source, shaper))
      this.#shaped.push({ chunk: copyOf(chunk), parts: this.#partsOf(chunk.shaped, known) });
    return this.routes().filter((route) => !before.includes(route));
  }

  *chunksOf(route: Route): Generator<ShapedChunk> {
    const number = this.routes().indexOf(route);
    for (const { chunk, parts } of this.#shaped)
      yield { ...chunk, shaped: this.#part.of(chunk.shaped, number, parts && (parts[number] ?? [])) };
  }

  #routeTo(name: string): Route {
    const known = this.#routes.get(name);
    if (known) return known;
    const { base, dataset, sink, batcher, shaper } = this.#options;
    const owner = name === dataset ? base : datasetOwner(base, name);
    const route = { sink, owner, dataset: name, batcher, shaper, router: this };
    this.#routes.set(name, route);
    return route;
  }

  /** Which events go to each dataset, to the sink's own where they name none that can be used. New datasets are added to `known`. */
  #partsOf({ routes }: Shaped, known: Map<string, number>): number[][] | undefined {
    if (!routes) return undefined;
    const { base, datasets, misrouted } = this.#options;
    const refused = new Set<string>();
    const parts: number[][] = [[]];
    let errors = 0;
    for (let n = 0; n < routes.datasets.length; n++) {
      const name = routes.datasets[n];
      if (name !== undefined && !known.has(name) && !refused.has(name)) {
        if (datasets.add(base, name)) known.set(name, known.size);
        else refused.add(name);
      }
      const number = name === undefined ? OWN : known.get(name);
      if (number === undefined) errors += 1;
      (parts[number ?? OWN] ??= []).push(n);
    }
    if (errors > 0) misrouted(errors);
    return parts;
  }
}

/** The shaper's own bytes and routes are overwritten by the next call. */
function copyOf(chunk: ShapedChunk): ShapedChunk {
  const { bytes, ends, routes, ...rest } = chunk.shaped;
  const length = routes?.ends.at(-1) ?? ends.at(-1) ?? 0;
  const own = routes && { routes: { ...routes, ends: routes.ends.slice(), origins: routes.origins.slice() } };
  return { ...chunk, shaped: { ...rest, ends, bytes: Buffer.from(bytes.subarray(0, length)), ...own } };
}
