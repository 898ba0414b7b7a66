/**
 * What a transform script imports from `tailrace/transform`: how to declare a transform, and its types. A script is one TypeScript file
 * whose default export is such a transform.
 */

/** An event: what stands between the braces of one JSON object. Whole numbers beyond 2^53 are `bigint`. */
export interface TransformEvent {
  [name: string]: unknown;
}

/** What a transform gets beside the event. */
export interface TransformContext {
  /** The id of the source. */
  readonly source: string;
  /** When the agent read the event. */
  readonly readAt: Date;
}

/** Gives the event, changed or another one; null for an event that is not to be sent; or a list of events that take its place. */
export type Transform = (event: TransformEvent, context: TransformContext) => TransformEvent | null | readonly TransformEvent[];

export interface TransformOptions {
  /**
   * The same event always becomes the same events: nothing is remembered from one to the next, and no clock, randomness or network is
   * asked. What is so need not go through the disk buffer.
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
