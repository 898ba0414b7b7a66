/** The life of a batch: the events that each state allows, and the states that they lead to. Pure; only queue.ts moves a batch. */

/**
 * `open`: takes events. `recovered`: of an earlier process, before older ones are read again. `writing`: until the disk buffer has it.
 * `waiting`: for a worker. `parked`: for the dead letters, or for a time. `unreadable`: for the next process, which rebuilds it from its files.
 */
export type BatchState =
  | 'open'
  | 'recovered'
  | 'writing'
  | 'waiting'
  | 'in_flight'
  | 'parked'
  | 'unreadable'
  | 'settled'
  | 'dropped';

export type BatchEvent =
  /** It was found in the disk buffer, and belongs to files. */
  | 'recover'
  /** It is closed, and has to be in the disk buffer first. */
  | 'write'
  /** It may be sent. */
  | 'queue'
  /** A worker has it. */
  | 'take'
  /** It could not be sent now. */
  | 'give_back'
  | 'park'
  | 'lose'
  /** Each of its parts is stored or refused. */
  | 'settle'
  | 'drop';

/** Who is to work now: one that sends, one that writes, or none; `leave`: it is in the queue no more. */
export type BatchAction = 'send' | 'write' | 'leave' | 'none';

interface Next {
  readonly state: BatchState;
  readonly action: BatchAction;
}

const to = (state: BatchState, action: BatchAction = 'none'): Next => ({ state, action });
const queue = to('waiting', 'send');
const drop = to('dropped', 'leave');

const LIFE: Readonly<Record<BatchState, Readonly<Partial<Record<BatchEvent, Next>>>>> = {
  open: { recover: to('recovered'), write: to('writing', 'write'), queue },
  recovered: { queue, drop },
  writing: { queue, drop },
  waiting: { take: to('in_flight'), drop },
  in_flight: { give_back: queue, park: to('parked'), lose: to('unreadable'), settle: to('settled', 'leave'), drop },
  parked: { queue, drop },
  unreadable: {},
  settled: {},
  dropped: {},
};

/** Undefined where the event cannot happen in that state. */
export function next(state: BatchState, event: BatchEvent): Next | undefined {
  return LIFE[state][event];
}
