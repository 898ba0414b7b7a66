/** What every receiver of a syslog source is given: the way of messages into the window, and the callbacks that count them. */
import type { Region } from '../../../core/block.ts';
import type { Clock } from '../../../core/time/clock.ts';
import type { Log } from '../../../core/log.ts';
import type { StreamPosition } from '../intake/collector.ts';
import type { Flow } from '../intake/flow.ts';
import type { MessageIntake } from '../intake/intake.ts';
import type { EventForm } from '../message/event-form.ts';

export interface Reception {
  readonly source: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly form: EventForm;
  readonly intake: MessageIntake;
  readonly flow: Flow;
  readonly reserve: (bytes: number) => Region;
  /** The start of a new stream. */
  readonly mint: () => StreamPosition;
  /** Called after each read, and with 0 for each new connection. */
  readonly received: (bytes: number) => void;
  /** Called with messages that cannot be taken, and the reason; undefined: the window is full. */
  readonly refused: (error: unknown, events: number, bytes: number, peer?: string) => void;
}
