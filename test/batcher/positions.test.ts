/** Positions that do not count bytes, as those of a journal: their source alone knows what they mean. */
import { expect, test } from 'vitest';
import { Accounting } from '../../src/batcher/accounting.ts';
import { SourceLane } from '../../src/batcher/fill/lane.ts';
import type { Block } from '../../src/core/block.ts';
import { addSums, NO_TAIL } from '../../src/core/sums.ts';
import { Mark } from '../../src/state/database/marks.ts';
import { blockOf, makeRig, type Rig, marksAt } from './blocks.ts';

/** Entries 10 to 12, 13, and 14 to 40 of a journal, of which three are events. */
const entries = (): Block =>
  blockOf(Buffer.from('a\nbb\nccc\n'), { offset: 9, ends: new Uint32Array([2, 5, 9]), positions: [12, 13, 40] });

function spansOf({ batcher, sealed }: Rig) {
  batcher.open.flush();
  return sealed.flatMap(({ spans }) => spans);
}

async function spansWith(limits: Parameters<typeof makeRig>[0]) {
  const rig = makeRig(limits);
  await rig.take(entries());
  return spansOf(rig);
}

test('spans begin and end at positions of the source, and adjoin', async () => {
  expect(await spansWith({ maxEvents: 2 })).toMatchObject([
    { from: 9, to: 13, events: 2 },
    { from: 13, to: 40, events: 1 },
  ]);
});

test('sum of entries is the same however they are cut, and another where one is another', async () => {
  const [whole] = await spansWith({});
  expect(whole).toMatchObject({ from: 9, to: 40, events: 3 });
  for (const maxEvents of [1, 2]) {
    const parts = await spansWith({ maxEvents });
    expect(parts.reduce((sum, part) => addSums(sum, part.sum), 0)).toBe(whole!.sum);
  }
  const rig = makeRig();
  await rig.take({ ...entries(), positions: [11, 13, 40] });
  expect(spansOf(rig)[0]!.sum).not.toBe(whole!.sum);
});

test('sink goes on behind the position that it has', async () => {
  const committed = [undefined, 12, 20, 40];
  const rigs = committed.map(() => makeRig());
  const lane = new SourceLane({
    accounting: new Accounting('app'),
    routes: rigs.map(({ batcher }, sink) => ({ sink: String(sink), dataset: 'logs', batcher })),
    isTracked: true,
    deleted: new Set(),
    streams: marksAt(committed),
  });
  await lane.accept(entries());
  expect(rigs.map((rig) => spansOf(rig).map(({ from, to, events }) => [from, to, events]))).toEqual([
    [[9, 40, 3]],
    [[12, 40, 2]],
    [[13, 40, 1]],
    [],
  ]);
});

test('mark moves to the end of the settled events', async () => {
  const mark = new Mark(9, NO_TAIL, 0);
  for (const [batch, span] of (await spansWith({ maxEvents: 1 })).entries()) mark.commit(span, batch);
  expect(mark.settle(1)).toEqual([]);
  expect(mark.settle(0)).toEqual([0, 1]);
  expect([mark.settledTo, mark.committedTo]).toEqual([13, 40]);
  mark.settle(2);
  expect([mark.settledTo, mark.contentSum]).toEqual([40, (await spansWith({}))[0]!.sum]);
});
