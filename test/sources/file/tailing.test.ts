import { expect } from 'vitest';
import { systemError, TailRig, test } from './tail-rig.ts';
import { scenario } from './scenario.ts';

test('file source reads present and appended lines, each once', async () => {
  const rig = new TailRig({ fields: { team: 'core' } });
  await rig.play`write a.log one two; start; drain; append a.log three; drain; drain; reads one two three`;
  expect(rig.lane.blocks[0]!.shape).toEqual({
    format: 'auto',
    wrapFields: { host: 'testhost', file: rig.path('a.log') },
    fields: { team: 'core' },
  });
  expect(new Set(rig.lane.blocks.map((block) => block.shape)).size).toBe(1);
  expect(rig.source.stats).toMatchObject({ readBytes: 14, lagBytes: 0, files: { active: 1 } });
});

scenario('file source leaves an unfinished last line until its rest arrives')`
  start; write a.log one tw…; drain; reads one; lag 2; pass 3; reads one; append a.log o thr…; drain; reads one two
`;

scenario('file source reads a file that appears later, and one in a new folder under **, from its beginning', {
  glob: '**/*.log',
  startAt: 'end',
})`start; drain; mkdir deep; mkdir deep/er; write deep/er/b.log late; drain; by-file deep/er/b.log late`;

scenario('file source starts at the end only in its first run, at the beginning of the line that is being written', {
  startAt: 'end',
})`
  write a.log old older hal…; write empty.log; start; drain; reads-nothing; append a.log f new; write empty.log first
  write late.log whole file; drain; by-file a.log half new + empty.log first + late.log whole file; commit
  write while-stopped.log "not skipped"; start; drain; reads "not skipped"
`;

scenario('file source goes on after a restart where the committed spans end, under the same stream')`
  start; write a.log one two; drain; commit; append a.log three four; drain; append a.log five; start; drain; reads three four five
  known a.log; streams 1
`;

test('file source gives every file its turn, however loud another one is', async ({ rig }) => {
  await rig.play`write a-loud.log ${`${'x'.repeat(1023)}\n`.repeat(12 * 1024)}; write z-quiet.log quiet; start`;
  const { moreToRead } = await rig.source.pollOnce();
  expect(moreToRead).toBe(true);
  expect(rig.byFile['z-quiet.log']).toEqual(['quiet']);
  expect(rig.source.stats.readBytes).toBeLessThan(6 * 1024 * 1024);
  await rig.drain();
  expect(rig.source.stats.readBytes).toBe(12 * 1024 * 1024 + 6);
});

test('file source under --once sends unfinished lines too and ends', async () => {
  const rig = new TailRig({ once: true });
  await rig.play`write a.log one tw…; write b.log ${`${'y'.repeat(99)}\n`.repeat(100_000)}; write empty.log; start; run`;
  expect(rig.byFile['a.log']).toEqual(['one', 'tw']);
  expect(rig.byFile['b.log']).toHaveLength(100_000);
  const last = rig.lane.blocks.find((block) => block.single)!;
  expect(last).toMatchObject({ offset: 4, length: 2, single: { length: 2 } });
});

test('file source sees a rotation while the lane is full, and loses nothing when the rotated file is deleted', async ({
  rig,
}) => {
  await rig.play`write a.log one; write b.log bee; start`;
  rig.lane.hold();
  const running = rig.source.run();
  await rig.lane.until((lane) => lane.waiting === 1);
  await rig.play`append b.log bees; scan; rm b.log; scan`;
  rig.lane.release();
  await rig.lane.until((lane) => lane.lines.length === 3);
  await rig.source.stop();
  await running;
  expect(rig.byFile).toEqual({ 'a.log': ['one'], 'b.log': ['bee', 'bees'] });
});

test('file source reads a span again exactly, an unfinished end included, and says when it cannot', async () => {
  const rig = new TailRig({ once: true });
  await rig.play`write a.log one two three…; start; run; commit; reread 4-13 two three; unread 4-14`;
  const { lane } = await rig.reread(4, 13);
  expect(lane.blocks.at(-1)).toMatchObject({ offset: 8, length: 5, single: { length: 5 } });
  rig.streams.records.clear();
  rig.streams.mint('app', rig.path('a.log'));
  await rig.play`unread 0-4`;
});

test('file source explains what it knows of a path', async () => {
  const rig = new TailRig({ exclude: ['skip*'] });
  await rig.play`write a.log one tw…; start; drain`;
  expect(rig.source.explain(rig.path('a.log'))).toMatchObject({
    state: 'active',
    offset: 4,
    size: 6,
    lagBytes: 2,
    isRead: true,
    savedOffset: 0,
  });
  expect(rig.source.explain(rig.path('skip.log'))).toEqual({
    path: rig.path('skip.log'),
    isRead: false,
    patterns: expect.stringContaining('exclude'),
    reason: 'the exclude pattern "skip*" matches it',
    fix: expect.any(String),
  });
  expect(rig.source.explain('/elsewhere')).toMatchObject({ isRead: false, patterns: 'no include pattern matches it' });
});

test('file source explains what became of a file when it last changed', async () => {
  const rig = new TailRig({ glob: '*.log*' });
  const lastChanges = (...names: string[]): (string | undefined)[] =>
    names.map((name) => rig.source.explain(rig.path(name)).lastChange);
  await rig.play`write a.log one; start; drain; mv a.log a.log.1; born; write a.log two; drain`;
  expect(lastChanges('a.log', 'a.log.1')).toEqual(['new', 'renamed']);
  await rig.play`copytruncate a.log; append a.log three; drain; reads one two three`;
  expect(lastChanges('a.log', 'a.log.1', 'a.log.2')).toEqual(['truncated', 'copied', 'renamed']);
  await rig.play`commit; mv a.log.2 a.log.3; start; drain; reads-nothing`;
  expect(lastChanges('a.log', 'a.log.1', 'a.log.3')).toEqual(['continued', 'continued', 'renamed']);
});

test('file source explains a copy as read only once it is decided, whichever look at it fails', async () => {
  const atFailure: unknown[] = [];
  let hasFailed = true;
  for (let nth = 1; hasFailed; nth += 1) {
    const rig = new TailRig({ glob: 'a.log*' });
    const copy = rig.path('a.log.1');
    let fd: unknown;
    rig.afterCalls.add((call, of, opened) => {
      if (call === 'open' && of === copy) fd = opened;
    });
    await rig.play`write a.log one; start; drain; cp a.log a.log.1; append a.log two; scan; rm a.log`;
    let looks = 0;
    rig.beforeCalls.add((call, of) => {
      if (call === 'peek' && of === fd && (looks += 1) === nth) throw systemError('EIO');
    });
    await rig.play`scan`;
    hasFailed = looks >= nth;
    if (hasFailed) atFailure.push(rig.source.explain(copy));
    await rig.play`pass 60; reads one two`;
    expect(rig.source.explain(copy)).toMatchObject({ lastChange: 'read copy', lagBytes: 0 });
  }
  expect(atFailure.length).toBeGreaterThan(1);
  for (const each of atFailure) expect(each).toMatchObject({ state: 'undecided', lastChange: 'undecided' });
});
