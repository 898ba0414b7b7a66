/** What the contract of sinks is tried on: each type of the registry has a file of its name here that exports its `subject`. */
import type { Sink } from '../../../src/core/sink.ts';
import type { Program } from '../../support/program.ts';

export interface Subject {
  /** A sink that no agent runs, and who takes what it sends. */
  alone(): Promise<Alone>;
  /** Where the sink of an agent delivers to. `folder`: that of the configuration. */
  destination(folder: string): Promise<Destination>;
}

export interface Alone {
  readonly sink: Sink;
  /** Nothing is taken before; absent where nobody keeps the sink waiting. */
  readonly take?: () => void;
  /** What came so far. */
  readonly taken: () => string;
  /** Goes away for good. */
  readonly leave: () => Promise<void>;
}

export interface Destination {
  /** Keys of the sink's entry in a configuration. */
  readonly keys: string;
  /** Starts `bin/tailrace` with these arguments. */
  start(...args: string[]): Program;
  /** Every event that it has, as JSON text. */
  stored(): readonly string[];
  /** Takes nothing until `back`. */
  away(): void;
  back(): void;
  /** A batch that comes again under its key is stored once. */
  readonly isOnce: boolean;
  /** The keys of what it has, each once for every batch that it stored; absent where it keeps none. */
  storedKeys?(): readonly string[];
  /** Refuses each event that holds the text, from now on; absent where it takes every event. */
  refuse?(text: string): void;
}
