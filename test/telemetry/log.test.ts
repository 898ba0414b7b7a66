/** The log on a pipe: a reader that is slow gets every line, and one that went away ends nothing. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { once } from 'node:events';
import { expect, test } from 'vitest';

const LINES = 3000;
const SCRIPT = `
  const { createLog } = await import(${JSON.stringify(join(import.meta.dirname, '../../src/telemetry/log.ts'))});
  // As a terminal or a supervisor may leave it: a full pipe refuses a write instead of blocking.
  process.stderr._handle?.setBlocking?.(false);
  const log = await createLog({ level: 'info', readable: false });
  log.debug({}, 'too low');
  for (let n = 0; n < ${LINES}; n++) log.info({ n, big: 5n, text: 'x'.repeat(200), none: undefined }, '100 %s');
  log.setLevel('error');
  log.warn({}, 'too low');
  process.stdout.write('went on');
`;
const start = () =>
  spawn(process.execPath, ['--input-type=module', '--eval', SCRIPT], { stdio: ['ignore', 'pipe', 'pipe'] });

test('a reader that begins late gets every line, each an object with level, time, fields and message', async () => {
  const child = start();
  let text = '';
  // More than a pipe holds is written by then.
  await new Promise((resolve) => child.stderr.once('readable', resolve));
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  expect(await once(child, 'close')).toEqual([0, null]);
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  expect(lines).toEqual(
    Array.from({ length: LINES }, (_, n) => ({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      n,
      big: 5,
      text: 'x'.repeat(200),
      msg: '100 %s',
    })),
  );
});

test('a process goes on when the reader of its log went away', async () => {
  const child = start();
  child.stderr.destroy();
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (out += piece));
  expect(await once(child, 'close')).toEqual([0, null]);
  expect(out).toBe('went on');
});
