/** The console sink, by the real agent: what counts as delivered when the reader is there, slow, gone, or the agent is killed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { BINARY, startCommand, startProgram } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';
import { beginning } from '../support/begin.ts';

const LINES = 30_000;
const lines = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, n) => `{"n":${from + n},"pad":"${'x'.repeat(60)}"}\n`).join('');

function makeAgent(
  sink = '{type: console}',
  source = 'app: {type: file, include: [app.log]}',
): { readonly folder: string; readonly config: string } {
  const folder = makeTree({ 'app.log': lines(0, LINES) });
  const config = join(folder, 'tailrace.yaml');
  writeFileSync(
    config,
    `data_dir: ${folder}/data\nshutdown_timeout: 1s\ntelemetry: {listen: none}\nsources: {${source}}\nsinks: {screen: ${sink}}\n`,
  );
  return { folder, config };
}

const test = beginning(() => makeAgent(), 'config', 'folder');

/** Whole lines only: a reader that went away may have the beginning of one. */
function numbersIn(text: string): number[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [(JSON.parse(line) as { n: number }).n] : []));
}

const missingOf = (found: readonly number[]): number[] => {
  const seen = new Set(found);
  return Array.from({ length: LINES }, (_, n) => n).filter((n) => !seen.has(n));
};

test('console sink writes each event once, in order, and nothing else', async ({ config }) => {
  const agent = startProgram(['run', '--once', '--config', config]);
  expect(await agent.exited, agent.stderr()).toBe(0);
  expect(numbersIn(agent.stdout())).toEqual(Array.from({ length: LINES }, (_, n) => n));
});

test('console sink waits for a slow reader', async ({ config, folder }) => {
  const script = `${BINARY} run --once --config ${config} | (while [ ! -e ${folder}/go ]; do sleep 0.05; done; cat)`;
  const agent = startCommand('sh', ['-c', script]);
  await until('the agent reads', () => agent.stderr().includes('tailrace runs'));
  writeFileSync(join(folder, 'go'), '');
  expect(await agent.exited, agent.stderr()).toBe(0);
  expect(numbersIn(agent.stdout())).toHaveLength(LINES);
});

test('events that a reader left unread come with the next start', async ({ config }) => {
  const first = startCommand('sh', [
    '-c',
    `{ ${BINARY} run --once --config ${config}; echo "ended with $?" >&2; } | head -n 5`,
  ]);
  await first.exited;
  expect(first.stderr()).toContain('"reason":"unwritable","answer":"cannot write to standard output');
  expect(first.stderr()).toContain('ended with 1');
  const second = startProgram(['run', '--once', '--config', config]);
  expect(await second.exited, second.stderr()).toBe(0);
  // What the reader took before it went may be a part of a batch, which comes again whole.
  expect(missingOf([...numbersIn(first.stdout()), ...numbersIn(second.stdout())])).toEqual([]);
});

// Symptom: `tailrace run | head` hung until a signal came. Cause: a reader that is gone counted as a service that is away. Fix: the agent ends as any program
// in a pipeline.
test('an agent whose reader goes away ends by itself, and unread events come with the next start', async ({
  config,
}) => {
  const first = startCommand('sh', [
    '-c',
    `{ ${BINARY} run --config ${config}; echo "ended with $?" >&2; } | head -n 5`,
  ]);
  await first.exited;
  expect(first.stderr()).toContain('ended with 0');
  expect(first.stderr()).toContain('"reason":"unwritable","answer":"cannot write to standard output');
  const second = startProgram(['run', '--once', '--config', config]);
  expect(await second.exited, second.stderr()).toBe(0);
  expect(missingOf([...numbersIn(first.stdout()), ...numbersIn(second.stdout())])).toEqual([]);
});

test('a kill loses nothing', async ({ config, folder }) => {
  writeFileSync(join(folder, 'first'), '');
  const script = `exec ${BINARY} run --config ${config} >> ${folder}/first`;
  const killed = startCommand('sh', ['-c', script]);
  await until('some are written', () => readFileSync(join(folder, 'first')).length > 0);
  await killed.end('SIGKILL');
  const second = startProgram(['run', '--once', '--config', config]);
  expect(await second.exited, second.stderr()).toBe(0);
  expect(missingOf([...numbersIn(readFileSync(join(folder, 'first'), 'utf8')), ...numbersIn(second.stdout())])).toEqual(
    [],
  );
});

test('console sink takes standard input, too, and shows events for people', async () => {
  const { config } = makeAgent(
    '{type: console, style: pretty, transform: "project-away secret"}',
    'pipe: {type: stdin}',
  );
  const agent = startProgram(['run', '--config', config], {}, 'pipe');
  agent.process.stdin!.end(
    '{"_time":"2026-01-02T03:04:05Z","msg":"over\\u001b[2Jlines\\nhere","n":1,"secret":"x"}\nplain\n',
  );
  expect(await agent.exited, agent.stderr()).toBe(0);
  const [first, second, third] = agent.stdout().split('\n');
  expect(first).toBe('2026-01-02T03:04:05Z over\\u001b[2Jlines');
  expect(second).toBe('    here  n=1');
  expect(third).toMatch(/^20\S+Z plain {2}host=/);
  expect(agent.stdout()).not.toContain('secret');
});
