/**
 * The module `tailrace/transform` that transform scripts import: how to declare a transform, and its types. A script is one TypeScript file
 * whose default export is such a transform.
 */

/** An event: the members of one JSON object. Whole numbers beyond 2^53 are `bigint`. */
export interface TransformEvent {
  [name: string]: unknown;
}

/** The arguments of a transform besides the event. */
export interface TransformContext {
  /** The id of the source. */
  readonly source: string;
  /** When the agent read the event. */
  readonly readAt: Date;
}

/** Gives the event, changed or another one; null for an event that is not to be sent; or a list of events that take its place. */
export type Transform = (
  event: TransformEvent,
  context: TransformContext,
) => TransformEvent | null | readonly TransformEvent[];

export interface TransformOptions {
  /**
   * The same event always becomes the same events: the transform keeps no memory between them and asks no clock, randomness or network. Its
   * results need not go through the disk buffer.
   */
  readonly deterministic?: boolean;
}

export interface DefinedTransform {
  readonly transform: Transform;
  readonly deterministic: boolean;
}

export function defineTransform(transform: Transform, options: TransformOptions = {}): DefinedTransform {
  return { transform, deterministic: options.deterministic === true };
}
