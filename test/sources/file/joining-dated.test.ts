/** Events that go on in the file of the next date. Every file's times are the test's. */
import { renameSync } from 'node:fs';
import { expect, test } from 'vitest';
import { datedName } from '../../../src/sources/file/scan/rotated-names.ts';
import { steppedTimes } from './file-times.ts';
import { TailRig } from './tail-rig.ts';

const multiline = { kind: 'start', pattern: '^[A-Z]', timeoutMs: 5000, maxLines: 1000, maxBytes: Infinity } as const;
const HALF_DAY_MS = 12 * 3_600_000;

/** A source that has read a file whose last event is open. */
async function begun(name: string) {
  const times = steppedTimes();
  const { fileSystem, nowMs } = times;
  const rig = new TailRig({ multiline, fileSystem, nowMs });
  const write = (to: string, text: string): void => times.append(rig.path(to), text);
  const events = (): string[] => rig.lane.blocks.flatMap((block) => block.events.map(String)).sort();
  write(name, 'Z\n');
  times.pass(HALF_DAY_MS);
  write(name, 'A one\n');
  await rig.start();
  await rig.drain();
  return { rig, times, write, events };
}

test.each([
  ['app-20261121.log', 'app-20261122.log'],
  ['2026-12-31.log', '2027-01-01.log'],
  ['app.2026-11-21T09.log', 'app.2026-11-21T10.log'],
  ['app-20261121.log', 'app-20261123.log'],
])('event that is cut between %s and %s is one event', async (first, next) => {
  const { rig, write, events } = await begun(first);
  write(next, ' two\n three\nB\n');
  await rig.drain();
  expect(events()).toEqual(['A one\n two\n three', 'Z']);
  expect(rig.lane.blocks.at(-1)).toMatchObject({ continued: [{ from: 0, to: 12 }] });
  await rig.pass(6);
  expect(events()).toEqual(['A one\n two\n three', 'B', 'Z']);
});

test('event that is cut while the agent is stopped is joined, also over a file that has nothing but its lines', async () => {
  const { rig, write, events } = await begun('app-20261121.log');
  rig.commit();
  write('app-20261122.log', ' two\n');
  write('app-20261123.log', ' three\nB\n');
  await rig.play`start; drain`;
  expect(events()).toEqual(['A one\n two\n three']);
  // Not committed: all of it once more.
  await rig.play`start; drain`;
  expect(events()).toEqual(['A one\n two\n three']);
});

test('event goes on in the file of the next date also where its own was renamed at once', async () => {
  const { rig, write, events } = await begun('app-20261121.log');
  renameSync(rig.path('app-20261121.log'), rig.path('app-20261121.log.1'));
  write('app-20261122.log', ' two\nB\n');
  await rig.drain();
  expect(events()).toEqual(['A one\n two', 'Z']);
});

test.each([
  ['the earlier date', 'app-20261120.log', 0],
  ['another name', 'web-20261122.log', 0],
  ['a number that is no date', 'app-20261322.log', 0],
  ['a date that came when its event was over', 'app-20261122.log', 6000],
])('file of %s is not joined', async (_, name, pauseMs) => {
  const { rig, times, write, events } = await begun('app-20261121.log');
  times.pass(pauseMs);
  write(name, ' two\nB\n');
  await rig.play`drain; pass 6`;
  expect(events()).toEqual([' two', 'A one', 'B', 'Z']);
});

test('file of an earlier date that is found late has no part in it', async () => {
  const { rig, write, events } = await begun('app-20261121.log');
  write('app-20261120.log', 'Y\n');
  await rig.source.scanOnce();
  write('app-20261122.log', ' two\nB\n');
  await rig.play`drain; pass 6`;
  expect(events()).toEqual(['A one\n two', 'B', 'Y', 'Z']);
});

test('files of two dates that are written side by side are not joined', async () => {
  const { rig, times, write, events } = await begun('job-20261121.log');
  write('job-20261122.log', ' banner\nB\n');
  times.pass(1000);
  write('job-20261121.log', ' two\n');
  await rig.play`drain; pass 6`;
  expect(events()).toEqual([' banner', 'A one\n two', 'B', 'Z']);
});

test('line that is cut between two dates comes as two lines, and nothing is joined to its beginning', async () => {
  const { rig, write, events } = await begun('app-20261121.log');
  write('app-20261121.log', ' tw');
  write('app-20261122.log', 'o\n three\nB\n');
  await rig.play`drain; pass 12`;
  expect(events()).toEqual(['A one\n tw', 'B', 'Z', 'o\n three']);
});

test.each([
  ['/l/app-20261121.log', '20261121', '/l/app-\0.log'],
  ['/2026-11-21/app.log', undefined, undefined],
  ['/l/2026.11.21_10:59.log', '2026.11.21_10:59', '/l/\0.log'],
  ['/l/app-202611211015.log', '202611211015', '/l/app-\0.log'],
  ['/l/app-2026-1121.log', undefined, undefined],
  ['/l/app-120261121.log', undefined, undefined],
  ['/l/app-1763700000.log', undefined, undefined],
])('date of %s is %s', (path, date, series) => {
  expect(datedName(path)).toEqual(date === undefined ? undefined : { date, series });
});
