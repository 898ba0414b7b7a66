/**
 * Symptom: an agent was stopped in the middle of a line on standard input, and the next one, which reads the same pipe, sent the rest of the line in clear.
 * Cause: a run knew nothing of the one before. Fix: each run saves its pipe, and whether it ended inside of a line.
 */
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { loadShaping } from '../../src/sources/framing/line-shaping.ts';
import { createStdinSource } from '../../src/sources/stdin/stdin.ts';
import { plainLineConfig } from '../support/source-config.ts';
import { MemoryStreamStore } from '../support/stream-store.ts';
import { createTestContext } from './source-context.ts';

const PIPE = { device: '1', inode: '2' };

/** The events of the last of several runs that are withheld where fields are hidden. */
async function unreadOf(
  runs: readonly (readonly [text: string, pipe?: typeof PIPE])[],
  changes: object = {},
): Promise<readonly string[]> {
  const config = { ...plainLineConfig, ...changes, isShaped: true, type: 'stdin', id: 'pipe' } as const;
  const streams = new MemoryStreamStore();
  let unread: readonly string[] = [];
  for (const [text, pipe = PIPE] of runs) {
    const context = createTestContext({ streams });
    const input = Readable.from([Buffer.from(text)]);
    const source = createStdinSource(config, context, { input, pipe, shaping: await loadShaping(config) });
    await source.open();
    await source.run();
    unread = context.lane.blocks.flatMap((block) => block.unread);
  }
  return unread;
}

test.each<readonly [string, Parameters<typeof unreadOf>[0], string[]]>([
  ['a line that begins like an object', [['{"pass'], ['word":"hunter2"}\nnext\n']], ['word":"hunter2"}']],
  ['three runs', [['{"pass'], ['word":"hun'], ['ter2"}\nnext\n']], ['ter2"}']],
  ['a whole line', [['{"a":1}\n'], ['text\n']], []],
  ['an object of its own', [['{"pass'], ['{"a":1}\n']], []],
  ['text', [['text'], [' more\n']], []],
  ['another pipe', [['{"pass'], ['text\n', { device: '1', inode: '3' }]], []],
])('a run behind %s', async (_, runs, expected) => {
  expect(await unreadOf(runs)).toEqual(expected);
});

test('a run behind a line of fields, and behind one over the limit', async () => {
  expect(await unreadOf([['user=ann password=hun'], ['ter2\nuser=b\n']], { format: 'logfmt' })).toHaveLength(1);
  const long = { maxEventBytes: 100, onOversize: 'split' };
  expect(await unreadOf([[`{"a":"${'x'.repeat(250)}`], ['hunter2"}\nnext\n']], long)).toEqual(['hunter2"}']);
});

test('a run that was killed may have ended anywhere', async () => {
  const config = { ...plainLineConfig, isShaped: true, type: 'stdin', id: 'pipe' } as const;
  const streams = new MemoryStreamStore();
  streams.mint('pipe', '', { ...PIPE, headLength: 0, headHash: '', endsInLine: true });
  const context = createTestContext({ streams });
  const input = Readable.from([Buffer.from('word":"hunter2"}\n{"a":1}\n')]);
  const source = createStdinSource(config, context, { input, pipe: PIPE, shaping: await loadShaping(config) });
  await source.open();
  await source.run();
  expect(context.lane.blocks.flatMap((block) => block.unread)).toEqual(['word":"hunter2"}']);
});
