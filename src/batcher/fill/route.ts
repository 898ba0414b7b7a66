/** Where a source's events go: to one sink, or to one dataset of it. */
import type { Block } from '../../core/block.ts';
import type { Shaper } from '../../core/shaping.ts';
import type { Batcher } from './batcher.ts';
import type { ShapedChunk } from './shape-chunk.ts';

export interface Route {
  readonly sink: string;
  readonly dataset: string;
  readonly batcher: Batcher;
  /** What shapes the source's events on their way to the sink. */
  readonly shaper?: Shaper | undefined;
  /** The owner of the low-water marks that it moves (core/owner); undefined: the sink. */
  readonly owner?: string;
  /** All ways through the sink where events go to several datasets. */
  readonly router?: RouteGroup;
}

export interface RouteGroup {
  /** The ways that are known, the sink's own dataset first. */
  routes(): readonly Route[];
  /** Shapes a part of a block; returns the ways to datasets that were not known before. */
  shape(block: Block, start: number, end: number): Promise<readonly Route[]>;
  /** What of that part goes this way. */
  chunksOf(route: Route): Iterable<ShapedChunk>;
}
