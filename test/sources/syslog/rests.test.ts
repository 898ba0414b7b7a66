/**
 * Symptom: a message whose time was over was withheld as cut JSON, and its rest, which came later, left in clear as a message of its own; so did what
 * stood behind a wrong octet count. Cause: the rest does not look like JSON. Fix: the framer says what goes on with a cut message.
 */
import { expect, test } from 'vitest';
import type { ParseJson } from '../../../src/sources/syslog/message/message-json.ts';
import { createRig } from './rig.ts';

const HEAD = '<13>1 2026-11-21T10:15:00Z host app 1 - -';
const BEGIN = `${HEAD} {"pass`;
const REST = 'word":"hunter2"}';

/** Each text is a read; `late` ends the time of an unfinished message. The beginning is found by its text. */
const WAYS: readonly (readonly [name: string, reads: readonly string[], unread: readonly string[]])[] = [
  ['a line whose time is over', [BEGIN, 'late', `${REST}\n`, `${HEAD} next\n`], [REST]],
  ['a rest in several reads', [BEGIN, 'late', 'word":"hun', 'ter2"}\n', `${HEAD} next\n`], [REST]],
  [
    'a rest whose time is over, too',
    [BEGIN, 'late', 'word":"hun', 'late', 'ter2"}\n', `${HEAD} next\n`],
    ['word":"hun', 'ter2"}'],
  ],
  [
    'a counted message whose time is over',
    [`${BEGIN.length + REST.length} ${BEGIN}`, 'late', REST, `${HEAD.length + 5} ${HEAD} next`],
    [REST],
  ],
  [
    'a count that is too small',
    [`${BEGIN.length} ${BEGIN}${REST}${HEAD.length + 5} ${HEAD} next`],
    [`${BEGIN}${REST}`],
  ],
  [
    'a header that is cut',
    [`${HEAD.slice(0, -1)}[x password="hun`, 'late', 'ter2"] text\n', `${HEAD} next\n`],
    [`${HEAD.slice(0, -1)}[x password="hun`, 'ter2"] text'],
  ],
];

test.each(
  WAYS.flatMap(([name, ...rest]) =>
    (['all', 'fields', 'none'] as const).map((parse) => [name, parse, ...rest] as const),
  ),
)('a rest is withheld behind %s, parse_json: %s', async (_, parseJson: ParseJson, reads, unread) => {
  const rig = createRig(10_000, parseJson);
  const stream = rig.open();
  for (const read of reads) {
    if (read === 'late') stream.end('late');
    else stream.take(rig.input.bytes.write(read));
  }
  await expect.poll(() => rig.lane.texts.some((text) => text.includes('next'))).toBe(true);
  const messageOf = (text: string): unknown => (JSON.parse(text) as { message: unknown }).message;
  const found = rig.lane.blocks.flatMap((block) => block.unread.map(messageOf));
  expect(found).toEqual(unread);
  expect(rig.lane.texts.map(messageOf)).toContain('next');
});

test('message that begins while the rest of another one is awaited is a message of its own', async () => {
  const rig = createRig(10_000, 'all');
  const stream = rig.open();
  for (const read of [BEGIN, 'late', `${HEAD} next\n`, 'late', `${HEAD} text`, 'late', '\n', 'plain\n']) {
    if (read === 'late') stream.end('late');
    else stream.take(rig.input.bytes.write(read));
  }
  await expect.poll(() => rig.lane.texts.length).toBe(4);
  expect(rig.lane.blocks.flatMap((block) => block.unread)).toEqual([]);
});
