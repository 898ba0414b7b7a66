/** What the contract of sources is tried on: each type of the registry has a file of its name here that exports its `subjects`. */
import type { Source } from '../../../src/core/source.ts';
import type { TestContext } from '../source-context.ts';

/** A source that is not open yet, and what its sender does. */
export interface Subject {
  readonly source: Source;
  readonly context: TestContext;
  /** Connects, once the source is open. */
  connect?(): Promise<void>;
  /** Resolves when the system has taken it. */
  send(text: string): Promise<unknown> | void;
  /** What comes last may have no newline; of a file it is left for the next start. */
  readonly rest: string;
  /** Sent bytes must be read, not only received, before a stop is sure to hand them over. */
  readonly isReadFirst?: boolean;
  /** Its newlines only separate messages. */
  readonly isDatagram?: boolean;
  /** Bytes of a message before its text. */
  readonly prefix: string;
  /** What a stop logs of events that nobody took and that cannot be read again. */
  readonly logsLoss?: string;
  /** They are counted as events, whose bytes are not known. */
  readonly losesEvents?: boolean;
}

export type Subjects = Readonly<Record<string, () => Subject>>;
