import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { expect } from 'vitest';
import { TailRig, test } from './tail-rig.ts';
import { scenario } from './scenario.ts';

scenario(
  'rename rotation out of the globs is read to its end, also what is appended after it, and the new file from its beginning',
)`
  start; write a.log one; drain; append a.log two; mv a.log a.log.1; write a.log fresh; drain
  append a.log.1 three; drain; reads-any fresh one three two; by-file a.log *; streams 2; said 1 renamed
  // Closed long ago, renamed once more, and still the same file.
  pass 30; mv a.log.1 a.log.2; append a.log.2 four; drain; last four; lost 0
`;

scenario(
  'rename rotation within the globs reads nothing twice and keeps the path first matched, several at once and while closed',
  {
    glob: 'a.log*',
  },
)`
  start; write a.log one; drain; pass 30; stats idle=1 active=0; mv a.log a.log.1; write a.log two; drain; pass 30
  append a.log.1 "one more"; mv a.log.1 a.log.2; append a.log "two more"; mv a.log a.log.1; write a.log three; drain
  reads-any one "one more" three two "two more"; files a.log
`;

scenario('rename rotations while the source is stopped are recognised by content, in and outside of the globs')`
  start; write a.log one; write b.log bee; drain; commit; append a.log two; mv a.log a.log.1; write a.log three; mv b.log c.log
  append c.log bees; start; drain; by-file a.log * + b.log bees; reads-any bees three two
`;

scenario('unfinished last line of a rotated file is sent once the file is idle, and its rest as an event of its own')`
  start; write a.log one tw…; drain; mv a.log a.log.1; drain; reads one; pass 15; reads one tw
  append a.log.1 o three; drain; reads one tw o three
`;

test('deleted file is read to its end through the open descriptor, its unfinished line too, then let go and forgotten', async ({
  rig,
}) => {
  const fd = openSync(rig.path('a.log'), 'w');
  writeSync(fd, 'one\n');
  await rig.play`start; poll`;
  writeSync(fd, 'two\nthr');
  await rig.play`rm a.log; poll; reads one two`;
  writeSync(fd, 'ee\nfour');
  closeSync(fd);
  await rig.play`poll; reads one two three; stats deleted=1; pass 15; reads one two three four; stats deleted=0`;
  const [stream] = rig.streams.records.keys();
  rig.streams.unsettled.add(stream!);
  await rig.play`pass 90; forgotten 0`;
  rig.streams.unsettled.clear();
  await rig.pass(1);
  expect(rig.streams.forgotten).toEqual([stream]);
  expect(rig.source.stats.lostBytes).toBe(0);
});

scenario('unfinished line of a file that was idle for long is not lost when the file is deleted')`
  start; write a.log one tw…; drain; pass 60; rm a.log; pass 15; reads one tw; lost 0
`;

scenario('file that is deleted and made again is read from its beginning, under a new stream')`
  start; write a.log one two; drain; rm a.log; write a.log one two three; drain; reads one two one two three; streams 2
`;

scenario('file that is made again under a reused inode, longer than the old position, is read from its beginning')`
  start
  // The same inode with other content: what a file system does that gives a freed inode away again.
  write a.log "old one" "old two"; drain; pass 30; write a.log "new one, longer than" "all that was there before"; drain
  reads "old one" "old two" "new one, longer than" "all that was there before"; commit
  write a.log "while it was stopped, another one" "of more bytes" "than ever before was seen"; start; drain; count 3; lost 0
  said 2 other content now
`;

test('truncated file begins a new generation, and what a stat had seen unread is counted as lost', async ({
  openRig: rig,
}) => {
  await rig.play`write a.log one two half…; drain; cut a.log; append a.log new; drain; reads one two new; lost 4`;
  expect(rig.said(/truncated or replaced.*written after the last look is not counted/)).toMatchObject([
    { fields: { offset: 8, seenSize: 12, lostBytes: 4 } },
  ]);
  expect(rig.lane.blocks.at(-1)).toMatchObject({ offset: 0 });
});

test('truncation that cuts only the unfinished line loses that and reads on', async ({ openRig: rig }) => {
  const one = 'o'.repeat(1023);
  await rig.play`
    write a.log ${`${one}\nhalf a line`}; drain; cut a.log 1028; drain; lost 7; lag 4; append a.log " done"; drain
    reads ${one} "half done"
  `;
});

scenario('truncation is seen although the file has grown past the old position between two scans')`
  start; write a.log "line 1" "line 2"; drain; cut a.log; append a.log "line 3" "line 4" "line 5"; drain
  reads "line 1" "line 2" "line 3" "line 4" "line 5"
`;

test('truncation is seen by the bytes before the position where every file begins with the same long banner', async ({
  openRig: rig,
}) => {
  const banner = `${'='.repeat(1999)}\n`;
  await rig.play`
    write a.log ${`${banner}line 1 of the first\n`}; drain; pass 30; write a.log ${`${banner}line 1 of the other, longer\nline 2\n`}
    drain; reads-after 1 "line 1 of the first" ${'='.repeat(1999)} "line 1 of the other, longer" "line 2"; commit
    write a.log ${`${banner}line 1 of the third, which is even longer than all\nline 2\nline 3\n`}; start; drain; count 4
  `;
});

test('truncation in the middle of a turn does not mix old and new bytes', async ({ rig }) => {
  const line = `${'o'.repeat(99)}\n`;
  await rig.play`write a.log ${line.repeat(10_000)}; start; hold; write a.log ${`${'n'.repeat(99)}\n`.repeat(12_000)}; release; drain`;
  const texts = rig.texts;
  expect(texts.filter((text) => text === 'n'.repeat(99))).toHaveLength(12_000);
  expect(new Set(texts)).toEqual(new Set(['o'.repeat(99), 'n'.repeat(99)]));
  expect(rig.source.stats.lostBytes).toBe(1_000_000 - texts.filter((text) => text.startsWith('o')).length * 100);
});

scenario('symbolic link that is retargeted: both files are read, the old one to its end')`
  mkdir real; write real/1 one; write real/2 two; link real/1 current.log; start; drain; append real/1 "one more"; rm current.log
  link real/2 current.log; drain; by-file current.log one "one more" two
`;

test('second name of a file, a hard or a symbolic link, is not read again', async ({ rig }) => {
  await rig.play`write a.log one; link a.log b.log`;
  execFileSync('ln', [rig.path('a.log'), rig.path('c.log')]);
  await rig.play`start; drain; append c.log two; drain; by-file a.log one two`;
});

scenario('file that is moved away and back is read on, wherever it is')`
  start; write a.log one; drain; mkdir elsewhere; append a.log two; mv a.log elsewhere/x; drain
  append elsewhere/x three; drain; mv elsewhere/x a.log; append a.log four; drain; reads one two three four; stats active=1 rotated=0
`;

test('two files of the same content are both read, also when one is a copy made later', async ({ rig }) => {
  await rig.play`write a.log same; write b.log same; start; drain; cp a.log c.log; drain; commit; start; drain`;
  expect(rig.lanes[0]!.texts).toEqual(['same', 'same', 'same']);
  expect(rig.texts).toEqual([]);
});

test.skipIf(!existsSync('/usr/sbin/logrotate'))(
  'logrotate with create: every line once, over five rotations, in and outside of the globs',
  async () => {
    for (const include of ['*.log', '*.log*']) {
      const rig = new TailRig();
      await rig.start({ include: [rig.path(`logs/${include}`)] });
      mkdirSync(rig.path('logs'), { mode: 0o755 });
      writeFileSync(
        rig.path('rotate.conf'),
        `${rig.path('logs/app.log')} {\n  rotate 3\n  create 0644\n  nocompress\n  size 1\n  su root root\n}\n`,
        { mode: 0o644 },
      );
      const written: string[] = [];
      const append = (count: number): void => {
        const lines = Array.from({ length: count }, () => `line ${written.length + 1} ${written.push('')}`);
        written.splice(-count, count, ...lines);
        appendFileSync(rig.path('logs/app.log'), `${lines.join('\n')}\n`);
      };
      for (let rotation = 0; rotation < 5; rotation += 1) {
        append(100);
        await rig.source.pollOnce();
        // Not seen by a scan before the rotation.
        append(100);
        execFileSync('/usr/sbin/logrotate', ['-f', '-s', rig.path('state'), rig.path('rotate.conf')]);
        append(50);
        await rig.source.pollOnce();
      }
      await rig.play`drain; reads-any ${written}; files logs/app.log; lost 0`;
    }
  },
);

scenario('file that was made and rotated away while its path was vacant at every scan is read')`
  write a.log one; start; drain; mv a.log a.log.1; drain; born; write a.log two; mv a.log a.log.2; drain; reads one two; born
  write a.log three; mv a.log a.log.3; write a.log four; drain; reads-any four one three two
`;

test('files that were rotated away between being found and being opened are read, and those behind them', async ({
  rig,
}) => {
  const path = rig.path('a.log');
  await rig.play`write a.log one; start; drain; mv a.log a.log.1; born; write a.log two`;
  rig.once('before', 'a.log', () => {
    renameSync(path, `${path}.2`);
    writeFileSync(path, 'three\n');
    renameSync(path, `${path}.3`);
    writeFileSync(path, 'four\n');
  });
  await rig.play`scan; mv a.log a.log.4; write a.log five; drain; reads-any five four one three two`;
});
