/** A disk buffer and dead letters on a folder, before a service that refuses one event. */
import { join } from 'node:path';
import { DeadLetters, toLetter } from '../../src/state/dead-letters.ts';
import { DiskRig } from './disk-rig.ts';
import { stores } from './sink-rig.ts';

/** Batches and their numbers of events. */
export const TAKEN = { first: 3, ill: 4, last: 2 };
export const isPoison = (text: string): boolean => text.includes('"batch":"ill","n":2,');

export class KillRig extends DiskRig {
  readonly letters: DeadLetters;

  /** `stored` hears of every request that the service stores, before it is answered. */
  constructor(folder: string, stored: (key: string, body: string) => void, stream = 'killed') {
    const letters = new DeadLetters(join(folder, 'dead-letters'), Infinity);
    super(join(folder, 'spool'), {
      stream,
      deadLetter: (name, refused) =>
        letters.put(
          name,
          refused.map((letter) => toLetter(letter, '', letter.spanOffset, 0)),
        ),
    });
    this.letters = letters;
    this.respond = (request) => {
      if (isPoison(request.body)) return { outcome: { kind: 'bisect', detail: 'HTTP 400' } };
      stored(request.sent.key, request.body);
      return stores(request);
    };
  }
}
