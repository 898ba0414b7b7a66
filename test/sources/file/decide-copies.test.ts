/** What holds of every decision about the copy candidates of a stream, and how far one look goes with a candidate. */
import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { chooseShort, decideNoCopy, orderCopies } from '../../../src/sources/file/decide/copies.ts';
import { newTrackedFile, type TrackedFile } from '../../../src/sources/file/known/tracked-file.ts';
import { MAX_ORIGINALS } from '../../../src/sources/file/limits.ts';
import { CopyMatcher } from '../../../src/sources/file/observe/copy-matcher.ts';
import { NO_FILE } from '../../../src/sources/file/scan/file-system.ts';
import { TailRig } from './tail-rig.ts';

const shape = { format: 'auto', wrapFields: {}, fields: {} } as const;

function original(place: 'detached' | 'matched', isBusy: boolean, size = 5): TrackedFile {
  const file = newTrackedFile('/a.log', { ...NO_FILE, size }, shape, 0, 1);
  Object.assign(file.disk, { place });
  return Object.assign(file, { isBusy });
}

const copies = fc.uniqueArray(
  fc.record({ size: fc.integer({ min: 0, max: 20 }), isShort: fc.boolean(), isFirst: fc.boolean() }),
  { maxLength: 5, selector: ({ size }) => size },
);

test('a stream goes on in its longest short copy, and in none while another candidate may be longer, in whatever order they come', () => {
  fc.assert(
    fc.property(copies, fc.boolean(), fc.boolean(), (all, isDetached, isBusy) => {
      const of = original(isDetached ? 'detached' : 'matched', isBusy);
      const chosen = chooseShort(of, all);
      expect(chooseShort(of, all.toReversed())).toBe(chosen);
      const own = all.filter(({ isShort, isFirst }) => isShort && isFirst);
      const mayWait = !isDetached || isBusy || all.some(({ isShort }) => !isShort);
      expect(chosen?.size).toBe(mayWait || own.length === 0 ? undefined : Math.max(...own.map(({ size }) => size)));
    }),
    { numRuns: 3000 },
  );
});

test('candidates of a stream of which nothing was read are compared in the order of who has all that was seen', () => {
  fc.assert(
    fc.property(copies, fc.boolean(), (all, isUnread) => {
      const of = original(isUnread ? 'detached' : 'matched', false, 10);
      const ordered = orderCopies(of, all);
      expect([...ordered].sort((a, b) => a.size - b.size)).toEqual([...all].sort((a, b) => a.size - b.size));
      const isWhole = ordered.map(({ size }) => size >= 10);
      if (isUnread) expect(isWhole).toEqual([...isWhole].sort((a, b) => Number(b) - Number(a)));
      else expect(ordered).toEqual(all);
    }),
  );
});

test('a file that is no copy is read if it is one of the source, or was made by rotation', () => {
  const no = { wasFollowed: false, isSeen: false, isLast: false, isRotatedSince: false };
  expect(decideNoCopy(no)).toBe('later');
  for (const name of Object.keys(no)) expect(decideNoCopy({ ...no, [name]: true })).toBe('new');
});

test('one look compares a candidate with so many originals at most, and the next one goes on', async () => {
  const rig = new TailRig({ glob: 'a.log*' });
  await rig.play`start`;
  for (let n = 0; n < MAX_ORIGINALS + 2; n += 1) await rig.play`write a.log line-${n}; scan; rm a.log`;
  const observe = vi.spyOn(CopyMatcher.prototype, 'observe');
  await rig.play`write a.log.1 other; scan`;
  expect(observe).toHaveBeenCalledTimes(MAX_ORIGINALS);
  await rig.play`scan`;
  expect(observe).toHaveBeenCalledTimes(MAX_ORIGINALS + 2);
  observe.mockRestore();
  await rig.play`drain`;
  expect(rig.texts).toContain('other');
});
