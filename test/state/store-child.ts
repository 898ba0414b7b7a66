/**
 * A process that commits, settles and saves at random on a data folder until it is killed. What it is about to do and what
 * is done goes, before it goes on, into a journal that the test reads afterwards: argv is the folder, the journal, a seed.
 */
import { appendFileSync } from 'node:fs';
import type { StoredBatch } from '../../src/state/database/stored-batch.ts';
import { openState } from '../../src/state/database/store.ts';
import { silentLog } from '../../src/core/log.ts';
import { batch, span } from './batches.ts';

const [folder, journal, seed] = process.argv.slice(2) as [string, string, string];
let random = Number(seed);
const draw = (below: number): number => {
  random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((random / 2 ** 32) * below);
};
const write = (entry: object): void => appendFileSync(journal, `${JSON.stringify(entry)}\n`);

const state = openState({ folder, sinksOf: () => ['store'], log: silentLog });
write({ opened: process.pid });
const open: StoredBatch[] = state.ledger.unsettled();
const streams = state.streams.list('app').map(({ id, resumeAt }) => ({ id, at: resumeAt }));
while (streams.length < 3) streams.push({ id: state.streams.mint('app', `/log/${streams.length}`).id, at: 0 });
for (;;) {
  if (open.length === 0 || draw(3) === 0) {
    const group: StoredBatch[] = [];
    for (let count = 1 + draw(3); count > 0; count--) {
      const taken = streams.filter(() => draw(2) === 0);
      if (taken.length === 0) continue;
      const spans = taken.map((stream) => {
        const from = stream.at;
        stream.at += 1 + draw(100);
        return span(stream.id, from, stream.at);
      });
      group.push(batch(state.ledger.nextId(), spans));
    }
    write({ committing: group });
    state.commit(group);
    write({ committed: group.map(({ id }) => id) });
    open.push(...group);
  } else if (draw(4) > 0) {
    const [settled] = open.splice(draw(open.length), 1);
    write({ settling: settled!.id });
    state.ledger.settle(settled!);
  } else state.save();
}
