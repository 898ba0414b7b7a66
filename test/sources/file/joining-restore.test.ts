/**
 * Events that rotations cut, in batches that were sent and not settled when the agent was killed: they go out again under their key,
 * or where they cannot be read whole any more, what is left of them under another one.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type AgentProcess, type Sent, startProcess } from './agent-process.ts';
import { failingFileSystem, freshFolders, makeFolder, StepClock, systemError } from './tail-rig.ts';

const multiline = { kind: 'start', pattern: '^[A-Z]', timeoutMs: 5000, maxLines: 1000, maxBytes: Infinity } as const;
// More than what a file is known by.
const LONG = ` ${'x'.repeat(1500)}`;
const REST = ` two\n${LONG}`;

interface Site {
  readonly log: string;
  /** All that was sent since the last start. */
  readonly sent: Sent[];
  readonly refused: Set<string>;
  /** Kills the agent, and starts another one. */
  restart(rules?: { readonly maxLines: number }): Promise<AgentProcess>;
}

/** An agent that sent an event of two files, `A`, and what the second has after it but its last line. */
async function begun(after = 'B\n'): Promise<Site & { readonly first: Sent; readonly agent: AgentProcess }> {
  const folder = makeFolder();
  mkdirSync(join(folder, 'logs'));
  const log = join(folder, 'logs/a.log');
  const clock = new StepClock();
  const sent: Sent[] = [];
  const refused = new Set<string>();
  const fileSystem = failingFileSystem(() => ({
    ...freshFolders,
    open(path) {
      if (refused.has(path)) throw systemError('EACCES');
      return freshFolders.open(path);
    },
  }));
  let agent: AgentProcess | undefined;
  const restart: Site['restart'] = async (rules) => {
    await agent?.kill();
    sent.length = 0;
    const note = (each: Sent): void => void sent.push(each);
    return (agent = await startProcess({ folder, clock, fileSystem, multiline: { ...multiline, ...rules }, sent: note }));
  };
  writeFileSync(log, 'Z\nA one\n');
  await restart();
  await agent!.poll();
  renameSync(log, `${log}.1`);
  writeFileSync(log, `${REST}\n${after}`);
  for (let n = 0; n < 3; n += 1) await agent!.poll();
  const first = sent.find(({ messages }) => messages.some((text) => text.startsWith('A')))!;
  expect(first.messages[0]).toBe(`A one\n${REST}`);
  return { log, sent, refused, restart, first, agent: agent! };
}

const joined = ({ sent }: Site): Sent[] => sent.filter(({ messages }) => messages.some((text) => /^A| two/.test(text)));

test('event of two files is sent again as one, under its key', async () => {
  const site = await begun();
  for (let starts = 0; starts < 2; starts += 1) {
    const agent = await site.restart();
    expect(joined(site)).toEqual([site.first]);
    expect(agent.log.lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
  }
});

test.each([
  ['beginning', '.1', REST, 'Z\nA one\n'.length],
  ['rest', '', 'A one', `${REST}\n`.length],
])('event of which the %s is gone: what is left is sent under another key, the same at every start', async (_, suffix, left, lostBytes) => {
  const site = await begun();
  rmSync(`${site.log}${suffix}`);
  const agent = await site.restart();
  const [only, ...others] = joined(site);
  expect(others).toEqual([]);
  expect(only!.messages).toEqual([left]);
  expect(only!.key).not.toBe(site.first.key);
  expect(agent.lostBytes).toBe(lostBytes);
  const again = await site.restart();
  expect(joined(site)).toEqual([only]);
  // Counted once, also where the key is retired once more.
  const other = await site.restart({ maxLines: 500 });
  expect(joined(site)[0]).toMatchObject({ messages: [left] });
  expect(again.lostBytes + other.lostBytes).toBe(0);
});

test('event of which a later file has other bytes now gets another key', async () => {
  const site = await begun();
  const bytes = readFileSync(site.log);
  bytes[1300] = 'y'.charCodeAt(0);
  writeFileSync(site.log, bytes);
  await site.restart();
  const [only, ...others] = joined(site);
  expect(others).toEqual([]);
  expect(only!.messages[0]).toContain('y');
  expect(only!.key).not.toBe(site.first.key);
});

test('event that is not one any more by new rules comes in parts, under another key, and is never put together again', async () => {
  const site = await begun();
  await site.restart({ maxLines: 2 });
  const [only] = joined(site);
  expect(only!.messages.join('\n')).toBe(site.first.messages[0]);
  expect(only!.messages.length).toBeGreaterThan(1);
  expect(only!.key).not.toBe(site.first.key);
  await site.restart();
  const [again] = joined(site);
  expect(again!.messages.length).toBeGreaterThan(1);
  // The rules are others once more.
  expect(again!.key).not.toBe(only!.key);
  expect(again!.key).not.toBe(site.first.key);
});

test('event of which a file cannot be read for now waits for the next start, whole, under its key', async () => {
  const site = await begun();
  site.refused.add(site.log);
  const agent = await site.restart();
  expect(joined(site)).toEqual([]);
  expect(agent.log.find('error', 'cannot be read again now')).toHaveLength(1);
  site.refused.clear();
  await site.restart();
  expect(joined(site)).toEqual([site.first]);
});

test('parts of a batch that was split stand for its events alone: what is left of these is sent whole, under another key', async () => {
  const site = await begun('B\nC\nD\n');
  const { agent, first } = site;
  expect(first.messages.slice(1)).toEqual(['B', 'C']);
  agent.split(
    agent.held.find(({ key }) => key === first.key)!,
    1,
  );
  await site.restart();
  const part = site.sent.find(({ messages }) => messages.includes('B'))!;
  expect(part.messages).toEqual(['B', 'C']);
  expect(part.key).not.toBe(first.key);
  rmSync(`${site.log}.1`);
  await site.restart();
  const whole = site.sent.find(({ messages }) => messages.includes('B'))!;
  expect(whole.messages).toEqual([REST, 'B', 'C']);
  expect([first.key, part.key]).not.toContain(whole.key);
  await site.restart();
  expect(site.sent.filter(({ messages }) => messages.includes('B'))).toEqual([whole]);
});
