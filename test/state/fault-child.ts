/**
 * A process that works on a data folder as an agent does, over and over, while a test makes its system calls fail: for each folder that it
 * reads from standard input it prints one line of JSON, the journal of its results. A failed step is tried again, three times at most.
 */
import { createInterface } from 'node:readline';
import { codeOf } from '../../src/core/errors.ts';
import { openState } from '../../src/state/database/store.ts';
import { MemoryLog } from '../support/memory-log.ts';
import { batch, span } from './batches.ts';

/** What one pass on a folder came to. */
export interface Journal {
  /** Batches of which the commit returned, in order. */
  readonly committed: number[];
  /** Those that were settled before a save that returned true. */
  readonly settled: number[];
  /** Everything that was refused, as `step: code`. */
  readonly refused: string[];
  /** Sentences that were logged. */
  readonly said: string[];
}

const TRIES = 3;

function work(folder: string): Journal {
  const journal: Journal = { committed: [], settled: [], refused: [], said: [] };
  const log = new MemoryLog();
  const insist = <T>(step: string, tried: () => T): T => {
    for (let left = TRIES; ; left -= 1) {
      try {
        return tried();
      } catch (error) {
        journal.refused.push(`${step}: ${codeOf(error)}`);
        if (left === 1) throw error;
      }
    }
  };
  const state = insist('open', () => openState({ folder, sinksOf: () => ['store'], log }));
  insist('note', () => state.noteStarted(['app']));
  const stream = state.streams.mint('app', '/log').id;
  for (const from of [0, 10, 20]) {
    const taken = batch(state.ledger.nextId(), [span(stream, from, from + 10)]);
    insist('commit', () => state.commit([taken]));
    journal.committed.push(taken.id);
    if (from === 20) break;
    insist('parts', () => state.commitParts(taken.id, [{ first: 0, count: 5, key: 'part' }]));
    state.ledger.settle(taken);
    insist('save', () => {
      if (!state.save()) throw Object.assign(new Error('not saved'), { code: 'not saved' });
    });
    journal.settled.push(taken.id);
  }
  insist('close', () => state.close());
  journal.said.push(...log.lines.map(({ message, fields }) => `${message} ${JSON.stringify(fields)}`));
  return journal;
}

for await (const folder of createInterface({ input: process.stdin })) {
  try {
    console.log(JSON.stringify(work(folder)));
  } catch (error) {
    console.log(JSON.stringify({ gaveUp: String(error) }));
  }
}
