/** The order of several generations of one path, by which an event that rotations cut is put together. Every file's times are the test's. */
import { renameSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type FileTimes, steppedTimes } from './file-times.ts';
import { failingFileSystem, TailRig } from './tail-rig.ts';

const multiline = { kind: 'start', pattern: '^[A-Z]', timeoutMs: 5000, maxLines: 1000, maxBytes: Infinity } as const;

interface Site {
  readonly rig: TailRig;
  readonly times: FileTimes;
  readonly log: string;
  readonly events: () => string[];
}

/** A file that was read to within its second event. */
async function begun(times = steppedTimes()): Promise<Site> {
  const { fileSystem, nowMs } = times;
  const rig = new TailRig({ multiline, fileSystem, nowMs });
  const log = rig.path('a.log');
  times.append(log, 'Z\nA one\n');
  await rig.start();
  await rig.drain();
  const events = (): string[] => rig.lane.blocks.flatMap((block) => block.events.map(String));
  return { rig, times, log, events };
}

/** The path has files with these texts, one after the other, before anyone looks; all but the last are rotated away. */
function rotateUnseen({ times, log }: Site, pauseMs: number, texts: readonly string[]): void {
  for (const [n, text] of texts.entries()) {
    renameSync(log, `${log}.${n + 1}`);
    times.pass(pauseMs);
    times.append(log, text);
  }
}

test('files are joined in the order in which they were made, be it a tick of the clock apart', async () => {
  const site = await begun();
  rotateUnseen(site, 1, [' two\n', ' three\n', ' four\nB\n']);
  await site.rig.drain();
  expect(site.events()).toEqual(['Z', 'A one\n two\n three\n four']);
});

test('files that were seen together are joined in the order in which they were made, also after a restart', async () => {
  // Their streams are not made in that order.
  const site = await begun(steppedTimes(1, [1]));
  rotateUnseen(site, 1, [' two\n', ' three\n', ' four\nB\n']);
  await site.rig.source.scanOnce();
  await site.rig.start();
  await site.rig.drain();
  expect(site.events()).toEqual(['Z', 'A one\n two\n three\n four']);
});

test('files that were made within one tick of the clock are not joined', async () => {
  const site = await begun(steppedTimes(1000));
  rotateUnseen(site, 0, [' two\n', ' three\n', ' four\nB\n']);
  await site.rig.drain();
  await site.rig.pass(20);
  expect(site.events().sort()).toEqual([' four', ' three', ' two', 'A one', 'B', 'Z']);
});

/** What is in the file is copied aside, and truncated, and the text follows. */
function copyAside({ times, log }: Site, n: number, text: string): void {
  times.copy(log, `${log}.${n}`);
  times.truncate(log);
  if (text !== '') times.append(log, text);
}

test('what was copied and truncated is joined in its order where an empty copy was not decided about since the restart', async () => {
  const site = await begun();
  const { rig, times } = site;
  for (const [n, text] of ['', ' two\n', ' three\n', ' four\nB\n'].entries()) {
    if (n === 3) {
      await rig.play`commit; start`;
    }
    times.pass(1000);
    await rig.source.scanOnce();
    copyAside(site, n + 1, text);
    await rig.source.scanOnce();
  }
  await rig.drain();
  expect(site.events()).toEqual(['A one\n two\n three\n four']);
});

test('copies that were made hours apart while no agent ran are joined: when they were made says nothing of their lines', async () => {
  const site = await begun();
  const { rig, times } = site;
  rig.commit();
  for (const [n, text] of [' two\n', ' three\n', ' four\nB\n'].entries()) {
    copyAside(site, n + 1, text);
    times.pass(3_600_000);
  }
  await rig.play`start; drain`;
  expect(site.events()).toEqual(['A one\n two\n three\n four']);
  expect(rig.source.stats.lostBytes).toBe(0);
});

// Symptom: an event went on with lines that were written hours before it. Cause: what was in a file that was truncated after it was
// recognised, and before the files were put in their order, counted as old as that file, and older than the copies before it.
test('truncation at any moment of a start joins no event with lines of another one', async () => {
  const wrong: string[] = [];
  for (let nth = 1, isOver = false; !isOver; nth += 1) {
    const site = await begun();
    const { rig, times } = site;
    rig.commit();
    for (const [n, text] of [' two\nB\n', ' three\nC\n'].entries()) {
      times.pass(1000);
      copyAside(site, n + 1, text);
      await rig.source.scanOnce();
    }
    times.pass(1000);
    let calls = 0;
    const fileSystem = failingFileSystem(() =>
      Object.fromEntries(
        (['stat', 'readdir', 'open', 'fstat', 'peek'] as const).map((name) => [
          name,
          (...given: unknown[]): unknown => {
            const result: unknown = Reflect.apply(times.fileSystem[name], undefined, given);
            if ((calls += 1) === nth) copyAside(site, 3, ' four\nD\n');
            return result;
          },
        ]),
      ),
    );
    await rig.start({ fileSystem });
    isOver = calls < nth;
    calls = Infinity;
    await rig.play`drain; pass 30`;
    const events = site.events();
    const whole = ['A one\n two', 'B\n three', 'C\n four'];
    const lines = events.join('\n').split('\n').toSorted();
    const expected = (isOver ? 'A one\n two\nB\n three\nC' : `${whole.join('\n')}\nD`).split('\n').toSorted();
    const isWhole = events.every((event) => whole.includes(event) || !event.includes('\n'));
    if (!isWhole || lines.join() !== expected.join()) wrong.push(`${nth}: ${JSON.stringify(events)}`);
  }
  expect(wrong).toEqual([]);
});
