/**
 * Routes one source's events to the datasets of one sink by `to_dataset`. The lane treats each dataset like a sink: it gets every block
 * of a stream, keeps its own low-water marks, and takes only its events. A block is shaped once, before the first dataset takes its part,
 * so that a new dataset is on disk before any event of the block is taken.
 */
import type { Block } from '../../core/block.ts';
import { datasetOwner } from '../../core/checkpoint-owner.ts';
import type { Shaped, Shaper } from '../../core/shaping.ts';
import type { Accounting } from '../accounting.ts';
import type { Batcher } from './batcher.ts';
import { DatasetPart, OWN } from './dataset-part.ts';
import type { ShapedChunk } from './shape-chunk.ts';

/** Where a source's events go: to one sink, or to one dataset of it. */
export interface Route {
  readonly sink: string;
  readonly dataset: string;
  readonly batcher: Batcher;
  /** What shapes the source's events on their way to the sink. */
  readonly shaper?: Shaper | undefined;
  /** The owner of the low-water marks that it moves (core/checkpoint-owner); undefined: the sink. */
  readonly owner?: string;
  /** All ways through the sink where events go to several datasets. */
  readonly router?: Router;
}

export interface RouterOptions {
  /** Of the source. */
  readonly accounting: Accounting;
  readonly sink: string;
  /** Names the marks of the sink's own dataset. */
  readonly base: string;
  /** The sink's own dataset. */
  readonly dataset: string;
  readonly batcher: Batcher;
  readonly shaper: Shaper;
  readonly datasets: DatasetRegistry;
}

/** The datasets of each sink, over restarts. */
export interface DatasetRegistry {
  /** The datasets used so far under these rules. */
  of(base: string): readonly string[];
  /** Adds a dataset durably; false where it cannot be added. */
  add(base: string, dataset: string): boolean;
}

export class Router {
  readonly #options: RouterOptions;
  readonly #routes = new Map<string, Route>();
  readonly #part = new DatasetPart();
  /** The chunks that were shaped last, and by the number of its dataset which of their events go there; absent where all go to the sink's own. */
  #shaped: { readonly chunk: ShapedChunk; readonly parts: readonly (readonly number[])[] | undefined }[] = [];

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  /** The ways that are known, the sink's own dataset first. */
  routes(): readonly Route[] {
    const { base, dataset, datasets } = this.#options;
    return [dataset, ...datasets.of(base)].map((name) => this.#routeTo(name));
  }

  /** Shapes a part of a block; returns the ways to datasets that were not known before. */
  async shape(block: Block, start: number, end: number): Promise<readonly Route[]> {
    const { batcher, shaper, accounting } = this.#options;
    const before = this.routes();
    const known = new Map(before.map(({ dataset }, number) => [dataset, number]));
    this.#shaped = [];
    for await (const chunk of batcher.shape(block, start, end, accounting.source, shaper))
      this.#shaped.push({ chunk: copyOf(chunk), parts: this.#partsOf(chunk.shaped, known) });
    return this.routes().filter((route) => !before.includes(route));
  }

  /** What of that part goes this way. */
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
    const { base, datasets, accounting } = this.#options;
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
    accounting.misrouted += errors;
    return parts;
  }
}

/** What the shaper made is overwritten by the next call. */
function copyOf(chunk: ShapedChunk): ShapedChunk {
  const { bytes, ends, sent, dispositions, all: _, routes, ...rest } = chunk.shaped;
  const length = routes?.ends.at(-1) ?? ends.at(-1) ?? 0;
  const own = routes && { routes: { ...routes, ends: routes.ends.slice(), origins: routes.origins.slice() } };
  return {
    ...chunk,
    shaped: {
      ...rest,
      ends: ends.slice(),
      sent: sent.slice(),
      dispositions: dispositions.slice(),
      bytes: Buffer.from(bytes.subarray(0, length)),
      ...own,
    },
  };
}
