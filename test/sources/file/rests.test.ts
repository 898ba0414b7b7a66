/**
 * Symptom: behind a line that was sent unfinished, its rest left with the password that the line's beginning would have named. Cause: the rest does not
 * look like JSON. Fix: the source says of the rest of a line, and of a message's later pieces, that they may be a part of an object.
 */
import { appendFileSync } from 'node:fs';
import { expect } from 'vitest';
import { startRig, test, type TailRig } from './tail-rig.ts';

const unreadOf = (rig: TailRig): string[] => rig.lane.blocks.flatMap(({ unread }) => unread);

/** Appends each text and waits until its unfinished end is sent. */
async function grow(rig: TailRig, ...texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    appendFileSync(rig.path('a.log'), text);
    await rig.pass(10);
  }
}

test('rest of an unfinished line is a part of an object where the line begins like one, also when it is read again', async () => {
  const rig = await startRig({ partialTimeoutMs: 5000 });
  await grow(rig, '{"a":1}\n{"b":', '"hunter2"}\n{"c":3}\n');
  expect(rig.texts).toEqual(['{"a":1}', '{"b":', '"hunter2"}', '{"c":3}']);
  expect(unreadOf(rig)).toEqual(['"hunter2"}']);
  const { lane } = await rig.reread(13, 32);
  expect(lane.blocks.map(({ unread }) => unread)).toEqual([['"hunter2"}']]);
  const whole = await rig.reread(24, 32);
  expect(whole.lane.blocks.flatMap(({ unread }) => unread)).toEqual([]);
});

test('rest is followed through several partial sends, and over a restart', async () => {
  const rig = await startRig({ partialTimeoutMs: 5000 });
  await grow(rig, '  {"b":', '"hun');
  await rig.play`commit; start`;
  await grow(rig, 'ter2"', '}\nnext\n');
  expect(rig.texts).toEqual(['ter2"', '}', 'next']);
  expect(unreadOf(rig)).toEqual(['ter2"', '}']);
});

test.each([
  ['rest of a text', ['a tex', 't "b":1}\n']],
  ['line behind one whose end alone was missing', ['{"b":1}', '\n{"c":1}\n']],
])('%s is no part of an object', async (_, texts) => {
  const rig = await startRig({ partialTimeoutMs: 5000 });
  await grow(rig, ...texts);
  expect(rig.lane.blocks).toHaveLength(2);
  expect(unreadOf(rig)).toEqual([]);
});

test('rest of a source that is never JSON is not taken as JSON', async () => {
  const rig = await startRig({ partialTimeoutMs: 5000, format: 'text' });
  await grow(rig, '{"b":', '"hunter2"}\n');
  expect(unreadOf(rig)).toEqual([]);
});

test('every part of an object that comes in parts is one, from whatever part it is read again', async () => {
  const rig = await startRig({ maxEventBytes: 1024, onOversize: 'split' });
  const line = `{"a":"${'x'.repeat(3000)}"}`;
  await grow(rig, `${line}\n${'y'.repeat(3000)}\nend\n`);
  expect(unreadOf(rig)).toEqual(rig.texts.slice(0, 3));
  const { lane } = await rig.reread(1024, 2048);
  expect(lane.blocks.map(({ unread }) => unread.length)).toEqual([1]);
  const text = await rig.reread(line.length + 1 + 1024, line.length + 1 + 2048);
  expect(text.lane.blocks.map(({ unread }) => unread.length)).toEqual([0]);
});

test('piece of a container message whose beginning was sent alone is one, also when it is read again', async () => {
  const rig = await startRig({ format: 'cri', parseJson: true, isShaped: true, partialTimeoutMs: 5000 });
  const head = '2026-11-21T10:15:00.123456789Z stdout';
  const [first, last] = [`${head} P {"password":\n`, `${head} F "hunter2"}\n`];
  await grow(rig, first, `${last}${head} F next\n`);
  const messagesOf = (texts: readonly string[]): string[] =>
    texts.map((text) => (JSON.parse(text) as { message: string }).message);
  expect(messagesOf(rig.events)).toEqual(['{"password":', '"hunter2"}', 'next']);
  expect(messagesOf(unreadOf(rig))).toEqual(['{"password":', '"hunter2"}']);
  const { lane } = await rig.reread(first.length, first.length + last.length);
  expect(lane.blocks.map(({ unread }) => unread.length)).toEqual([1]);
});

test('joined lines that a pause or a limit parted from the object they go on with are a part of it, also when they are read again', async () => {
  const multiline = { kind: 'start', pattern: '^\\{', timeoutMs: 5000, maxLines: 2, maxBytes: Infinity } as const;
  const rig = await startRig({ multiline, isShaped: true, partialTimeoutMs: 5000 });
  const parts = ['{\n"a":1,\n', '"b":2,\n', '"password":\n"hunter2"\n', '}\n', '{"c":3}\n'];
  await grow(rig, ...parts);
  const held = ['"b":2,', '"password":\n"hunter2"', '}'];
  expect(rig.texts.join('\n')).toBe(parts.join('').trimEnd());
  expect(unreadOf(rig)).toEqual(held);
  for (let from = 0; from < 4; from += 1) {
    const [begin, end] = [parts.slice(0, from + 1).join('').length, parts.join('').length];
    const { lane } = await rig.reread(begin, end);
    expect(lane.blocks.flatMap(({ unread }) => unread).join('\n')).toBe(held.slice(from).join('\n'));
  }
  await grow(rig, '{\n"passw');
  await rig.play`commit; start`;
  await grow(rig, 'ord":"hunter2"\n}\n');
  expect(unreadOf(rig)).toEqual(['ord":"hunter2"\n}']);
});
