/** What holds for every source, whatever it reads: how it hands over, waits, stops and is stopped. Each type of the registry is tried. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { SOURCE_TYPES, type SourceTypeName } from '../../src/sources/registry.ts';
import { settleTurns } from '../support/until.ts';
import type { Subject, Subjects } from './subjects/subject.ts';
import { patience } from './syslog/started.ts';

interface SubjectFile {
  readonly subjects: Subjects;
  readonly skipped?: readonly string[];
}

/** As many messages as the smallest receive buffer of a socket holds. */
const COUNT = 149;
const texts = Array.from({ length: COUNT }, (_, n) => `message ${n}`);
const sent = ({ prefix }: Subject): string => texts.map((text) => `${prefix}${text}\n`).join('');

const bytesOf = (subject: Subject): number => `${sent(subject)}${subject.rest}`.length;

/** The newlines between datagrams are not sent. */
const isRead = (subject: Subject): Promise<void> =>
  expect.poll(() => subject.source.stats.readBytes, patience).toBe(bytesOf(subject) - (subject.isDatagram ? COUNT : 0));

/** The text of each line that the lane took. */
const taken = ({ context, prefix }: Subject): unknown[] =>
  context.lane.texts.map((line) => (prefix === '' ? line : (JSON.parse(line) as { message: string }).message));

async function start(make: () => Subject): Promise<Subject & { readonly running: Promise<void> }> {
  const subject = make();
  await subject.source.open();
  const running = subject.source.run();
  onTestFinished(async () => {
    subject.context.lane.giveUp();
    await subject.source.stop();
    await running;
  });
  await subject.connect?.();
  return { ...subject, running };
}

for (const type of Object.keys(SOURCE_TYPES) as SourceTypeName[]) {
  const { subjects, skipped = [] } = (await import(`./subjects/${type}.ts`)) as SubjectFile;
  for (const name of skipped) test.skip(name, () => {});
  for (const [name, make] of Object.entries(subjects)) tryContract(name, make, SOURCE_TYPES[type].isRereadable);
}

function tryContract(name: string, make: () => Subject, isRereadable: boolean): void {
  describe(name, () => {
    test('hands over each event once, in order, in streams that were minted before', async () => {
      const subject = await start(make);
      const { lane, minted } = subject.context;
      await subject.send(sent(subject));
      await lane.until(({ count }) => count === COUNT);
      await subject.source.stop();
      expect(taken(subject)).toEqual(texts);
      expect(new Set(lane.blocks.map(({ stream }) => stream))).toEqual(new Set(minted.map(({ id }) => id)));
      expect(minted).toHaveLength(1);
      expect(subject.source.stats).toMatchObject({ lostBytes: 0 });
      expect(subject.source.stats.droppedEvents ?? 0).toBe(0);
    });

    test('offers one block at a time, and goes on where it was once the lane takes it', async () => {
      const subject = await start(make);
      const { lane } = subject.context;
      lane.hold();
      await subject.send(sent(subject));
      await lane.until(({ waiting }) => waiting === 1);
      await settleTurns(200);
      expect([lane.waiting, lane.count]).toEqual([1, 0]);
      lane.release();
      await lane.until(({ count }) => count === COUNT);
      expect(taken(subject)).toEqual(texts);
    });

    test('stop hands over received data, the unfinished end too, may be called twice, ends run, and lets nobody in', async () => {
      const subject = await start(make);
      const { source, context, prefix, rest } = subject;
      await subject.send(sent(subject) + rest);
      if (isRereadable) await context.lane.until(({ count }) => count === COUNT);
      else if (subject.isReadFirst) await isRead(subject);
      await Promise.all([source.stop(), source.stop()]);
      await subject.running;
      expect(taken(subject)).toEqual(rest === '' ? texts : [...texts, rest.slice(prefix.length)]);
      expect(context.lane.waiting).toBe(0);
      if (subject.connect) await expect(subject.connect()).rejects.toThrow(/ECONNREFUSED|ENOENT/);
    });

    test('stop before run is the end', async () => {
      const { source, context } = make();
      await source.open();
      await source.stop();
      await source.run();
      expect(context.lane.blocks).toEqual([]);
    });

    test('a lane that takes nothing any more ends it, and input that cannot be reread is counted and logged', async () => {
      const subject = await start(make);
      const { source, context } = subject;
      context.lane.hold();
      await subject.send(sent(subject) + subject.rest);
      await context.lane.until(({ waiting }) => waiting === 1);
      if (!isRereadable) await isRead(subject);
      context.lane.giveUp();
      await source.stop();
      await subject.running;
      const { lostBytes, droppedEvents = 0 } = source.stats;
      expect(context.lane.blocks).toEqual([]);
      const { losesEvents, logsLoss } = subject;
      const lost = losesEvents ? [lostBytes, COUNT + 1] : [isRereadable ? 0 : bytesOf(subject), 0];
      expect([lostBytes, droppedEvents]).toEqual(lost);
      expect(context.logged).toEqual(expect.arrayContaining(logsLoss === undefined ? [] : [logsLoss]));
      // An audit of a later process reads them from the state.
      expect(context.losses.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(lostBytes);
    });
  });
}
