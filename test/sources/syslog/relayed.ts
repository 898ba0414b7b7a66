/** Lines that reach a source through another program, which has them from logger. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { TestContext } from '../source-context.ts';
import { events, messages, patience } from './started.ts';

// Never synchronously: a full socket makes the client wait for this process.
const run = promisify(execFile);

export const sampleLines = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `message ${n} with "quotes", a \\ and é`);

/** Sends the lines of a file to a program's socket, once that is there. */
export async function logFile(socket: string, file: string): Promise<void> {
  await expect.poll(() => existsSync(socket), patience).toBe(true);
  await run('logger', ['--socket', socket, '--socket-errors=on', '-p', 'local3.warning', '-t', 'shop', '-f', file]);
}

/** Waits until all of the lines have arrived, in any order, with logger's own output. */
export async function expectRelayed(
  context: TestContext,
  lines: readonly string[],
  fields: Record<string, unknown> = {},
): Promise<void> {
  await context.lane.until((lane) => lane.count === lines.length);
  // Templates for RFC 5424 leave the space that stood behind the tag before the message.
  const texts = messages(context).map((text) => String(text).trimStart());
  expect(texts.toSorted()).toEqual(lines.toSorted());
  for (const event of events(context))
    expect(event).toMatchObject({ facility: 'local3', severity: 'warning', appname: 'shop', ...fields });
}
