/**
 * A truncation that comes between two steps of the source: while a block waits for the sinks, between a stat and the look at the content,
 * between two windows. Nothing is read twice, and the bytes counted as lost are missing, to the byte.
 */
import { appendFileSync, copyFileSync, renameSync, truncateSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startRig, systemError } from './tail-rig.ts';
import { scenario, scenarioInBothGlobs } from './scenario.ts';

const inGlobs = ['*.log', '*.log*'];

const linesOf = (name: string, count: number): string[] => Array.from({ length: count }, (_, n) => `${name} ${n}`);
const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

// Symptom: a copytruncate storm counted more bytes as lost than were missing, another stored thousands of lines twice. Cause: a
// block that waited for the sinks was counted as lost where the copy did not have it, and once it was accepted the position was
// beyond the end of the copy, which was then taken for a truncated file and read from its beginning.
test.for(inGlobs)(
  'block that waits for the sinks while its file is copied short and truncated, with %s',
  async (include) => {
    const rig = await startRig({ glob: include });
    const first = linesOf('in the copy', 100);
    const second = linesOf('in no copy, but read', 50);
    await rig.play`
    write a.log ${textOf(first)}; drain; append a.log "in the copy, and not read"; cp a.log copy; append a.log ${textOf(second)}; hold
    append a.log "seen by a scan, and in no copy"; scan; cp copy a.log.1; cut a.log; append a.log new; scan; release; pass 60
    reads-any ${first} "in the copy, and not read" ${second} new
  `;
    expect(rig.source.stats.lostBytes).toBe('seen by a scan, and in no copy\n'.length);
  },
);

// Symptom: as above. Cause: while a block waited, the file was truncated; the next read was at its end, so that unread lines counted as cut
// off, though it was in the copy and read from there.
test.for(inGlobs)(
  'file that is copied and truncated while a block of it waits is read on in its copy, with %s',
  async (include) => {
    const rig = await startRig({ glob: include });
    const lines = linesOf('a line of about forty bytes, number', 20_000);
    await rig.play`write a.log ${textOf(lines)}; hold; cp a.log a.log.1; cut a.log; release; pass 60; reads ${lines}; lost 0`;
  },
);

// Symptom: as above. Cause: the size that a stat had seen before the truncation was taken for that of what came after it.
const whens = ['running', 'started', 'running, and copied before', 'started, and copied before'] as const;
test.for(inGlobs.flatMap((include) => whens.map((when) => [include, when] as const)))(
  'copytruncate after any call of the file system loses nothing, repeats nothing, counts nothing: %s, while it is %s',
  async ([include, when]) => {
    const isStarted = when.startsWith('started');
    const isCopied = when.endsWith('copied before');
    const wrong: string[] = [];
    for (let nth = 1, isOver = false; !isOver; nth += 1) {
      let calls = -Infinity;
      const rig = await startRig({
        glob: include,
      });
      rig.afterCalls.add((call) => {
        if (call === 'close' || (calls += 1) !== nth) return;
        if (!isCopied) copyFileSync(rig.path('a.log'), rig.path('a.log.1'));
        truncateSync(rig.path('a.log'), 0);
        appendFileSync(rig.path('a.log'), 'new\n');
      });
      const old = linesOf('old', 100);
      await rig.play`write a.log ${textOf(old.slice(0, 60))}; drain; commit`;
      const before = rig.texts;
      appendFileSync(rig.path('a.log'), textOf(old.slice(60, 80)));
      if (!isStarted) await rig.source.scanOnce();
      appendFileSync(rig.path('a.log'), textOf(old.slice(80)));
      if (isCopied) copyFileSync(rig.path('a.log'), rig.path('a.log.1'));
      calls = 0;
      if (isStarted) await rig.start({ include: [rig.path(include)] });
      await rig.source.pollOnce();
      isOver = calls < nth;
      calls = -Infinity;
      if (isOver && isCopied) {
        await rig.play`cut a.log; append a.log new`;
      }
      await rig.pass(90, 3);
      const texts = isStarted ? [...before, ...rig.texts] : rig.texts;
      const expected = isOver && !isCopied ? old : [...old, 'new'];
      if (texts.toSorted().join() !== expected.toSorted().join())
        wrong.push(`call ${nth}: it sent ${texts.length} lines of ${expected.length}`);
      if (rig.source.stats.lostBytes !== 0)
        wrong.push(`call ${nth}: it counted ${rig.source.stats.lostBytes} bytes as lost`);
      await rig.source.stop();
    }
    expect(wrong).toEqual([]);
  },
);

// Symptom: a storm of kills stored whole files twice, and lost lines that were in a copy. Cause: lines beyond the end of the copy were
// committed when the agent was killed, and by the last position alone the copy was not recognised.
test.for(inGlobs)(
  'restart after a copytruncate, with more read than the copy has, sends nothing twice, with %s',
  async (include) => {
    const rig = await startRig({ glob: include });
    const old = linesOf('a line of the old file, and number', 5000);
    const late = linesOf('read, and in no copy', 20);
    for (let at = 0; at < old.length; at += 500) {
      await rig.play`append a.log ${textOf(old.slice(at, at + 500))}; poll; commit`;
    }
    await rig.play`cp a.log a.log.1; append a.log ${textOf(late)}; poll; commit; cut a.log; append a.log new`;
    // Killed before it saw that, and twice more after.
    for (const expected of [['new'], [], []]) {
      await rig.start();
      const size = textOf(old).length;
      const first = textOf(old.slice(0, 4500)).length;
      const { end, lane } = await rig.reread(first, size + textOf(late).length);
      expect(end).toBe(size);
      expect(lane.texts).toEqual(old.slice(4500));
      expect((await rig.reread(size + 10, size + 20)).end).toBe(size + 10);
      await rig.play`pass 30 3; reads ${expected}; lost 0; lag 0; commit`;
    }
  },
);

// Symptom: as above. Cause: a copy that was not that of the first generation that was looked for counted as a file of its own.
test.for(inGlobs)(
  'restart with two generations in two copies, both with more read than the copy has, with %s',
  async (include) => {
    const rig = await startRig({ glob: include });
    const all: string[] = [];
    for (const n of [1, 2]) {
      if (n === 2) renameSync(rig.path('a.log.1'), rig.path('a.log.2'));
      for (let at = 0; at < 10; at += 1) {
        const lines = linesOf(`a line of generation ${n}, part ${at}, number`, 100);
        all.push(...lines);
        await rig.play`append a.log ${textOf(lines)}; poll; commit`;
      }
      await rig.play`cp a.log a.log.1; append a.log "read, and in no copy"`;
      all.push('read, and in no copy');
      await rig.play`poll; commit; cut a.log`;
      if (n === 1) await rig.source.scanOnce();
    }
    expect(rig.texts).toEqual(all);
    for (let restart = 0; restart < 3; restart += 1) {
      await rig.play`start; pass 30 3; reads-nothing; lost 0; commit`;
    }
  },
);

// Symptom: a copy was read again. Cause: an empty file of its name was there as long as the original, and files that are seen for the first
// time together count as two.
scenario('copy into a file that was empty is told from a file of its own', { glob: '*.log*' })`
  write a.log one; write a.log.1; start; drain; cp a.log a.log.1; pass 2; cut a.log; pass 30; reads one
`;

// Symptom: lines were missing that were written to a rotated file after a restart. Cause: it was empty, so that nothing was saved of it, and
// it was made before the stream of the file before it.
scenario('rotated file that is empty at a restart is followed')`
  write a.log.1; born; write a.log one; start; drain; commit; start; append a.log.1 late; drain; by-file a.log late
`;

// Symptom: a copy was read again after a restart. Cause: it was taken for a newer generation of which nothing was saved, so that
// nothing but the beginning could differ, before it was compared with the one it is a copy of.
test.for(inGlobs)(
  'restart with two generations that begin alike, and a copy of the one that was read, with %s',
  async (include) => {
    const rig = await startRig({ glob: include });
    const banner = `${'#'.repeat(1200)}\n`;
    await rig.play`
    write a.log ${`${banner}read and saved\n`}; drain; commit; mv a.log a.log.1; write a.log ${`${banner}not saved\n`}; drain
    cp a.log.1 a.log.2; rm a.log.1; rm a.log; start; pass 30; append a.log.2 late; pass 30; reads late
  `;
  },
);

scenarioInBothGlobs(
  'copy with less than was read: what is appended to it is read, before a restart and after, with %s',
)`
  start; write a.log ${textOf(linesOf('old', 100))}; drain; cp a.log a.log.1; append a.log ${textOf(linesOf('read, and in no copy', 10))}
  drain; cut a.log; pass 3; append a.log.1 appended; pass 3; reads-after 110 appended; commit; append a.log.1 "and more"; start; pass 30 3
  reads "and more"
`;

scenario('copy with less than was read gives way to one that has it all, and neither is read again', {
  glob: '*.log*',
})`
  start; write a.log ${textOf(linesOf('old', 100))}; drain; cp a.log a.log.early; append a.log ${textOf(linesOf('more', 10))}; drain
  append a.log "not read yet"; cp a.log a.log.1; cut a.log; pass 30; reads-after 110 "not read yet"; lost 0
`;

// Symptom: as above. Cause: lines read into the window and not offered yet were counted as lost, and then offered.
test('file that is truncated while the first block of several waits: lines not offered by then are lost, and counted', async () => {
  const rig = await startRig({ maxEventBytes: 64, onOversize: 'truncate' });
  const text = `one\n${'x'.repeat(100)}\ntwo\n`;
  await rig.play`write a.log ${text}; hold; cut a.log; scan; release; pass 10; reads one`;
  expect(rig.source.stats.lostBytes).toBe(text.length - 'one\n'.length);
});

// Symptom: each truncation of a rotated file left a descriptor open for ever. Cause: the file was compared with its former content, as any
// file beside it is that may be the copy; being no copy, and under no matching name, it was let go, and then opened once more by a turn
// after which nobody closed it. Fix: a file that was followed before it was compared stays followed.
test('rotated file that is truncated and written to again is read on, and its descriptors are closed', async () => {
  const open = new Set<unknown>();
  const rig = await startRig();
  rig.afterCalls.add((call, of, result) => {
    if (call === 'open') open.add(result);
    if (call === 'close') open.delete(of);
  });
  await rig.play`write a.log one; drain; mv a.log a.log.1; pass 3`;
  for (const late of ['two', 'three']) {
    await rig.play`cut a.log.1; pass 90 3; append a.log.1 ${`${late}\n`}; pass 30 3`;
  }
  expect({ texts: rig.texts, open: open.size }).toEqual({ texts: ['one', 'two', 'three'], open: 0 });
});

// Symptom: such a file had two streams. Cause: looking for copies of the truncated one named it, and then its turn did.
test('file that is compared with one that was truncated meanwhile gets one stream', async () => {
  const rig = await startRig({ glob: '*.log*' });
  await rig.play`write a.log one; drain; append a.log two; write a.log.1 other`;
  let isRead = false;
  // The scan cannot open it: the reader names it, when the other one was read.
  rig.beforeCalls.add((call, of) => {
    if (call === 'read') isRead = true;
    if (call !== 'open' || of !== rig.path('a.log.1')) return;
    if (!isRead) throw systemError('ENOENT');
    truncateSync(rig.path('a.log'));
    appendFileSync(rig.path('a.log'), 'three\n');
    rig.beforeCalls.clear();
  });
  await rig.drain();
  expect(rig.texts.toSorted()).toEqual(['one', 'other', 'three', 'two']);
  expect([...rig.streams.records.values()].filter(({ path }) => path === rig.path('a.log.1'))).toHaveLength(1);
});
