/** A fatal error of the service, of Node or of the engine ends the process with a message, whatever runs in it. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Program, startProgram } from '../support/program.ts';
import { until } from '../support/until.ts';
import { tempDir } from './support.ts';

/** Longer than a fatal error may take, far shorter than the query. */
const DEADLINE_MS = 30_000;
const QUERY_SECONDS = 600;

/** What a signal makes the process do to itself. */
const FAULTS = `
const faults = {
  throw: () => { throw new Error('thrown in a test'); },
  reject: () => void Promise.reject(new Error('rejected in a test')),
  fill: () => { for (const kept = []; ; ) kept.push(Array(1e5).fill({})); },
};
process.on('SIGUSR2', faults[process.env.TEST_FAULT]);
`;

/** A service in the middle of a query. */
async function busyService(fault: string): Promise<Program> {
  const data = tempDir();
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const script = join(data, 'faults.mjs');
  writeFileSync(script, FAULTS);
  const options = `${process.env['NODE_OPTIONS'] ?? ''} --import ${script}${fault === 'fill' ? ' --max-old-space-size=64' : ''}`;
  const args = [
    'serve',
    '--listen',
    '127.0.0.1:0',
    '--data',
    join(data, 'service'),
    '--query-timeout',
    `${QUERY_SECONDS}s`,
    '--json',
  ];
  const program = startProgram(args, { TEST_FAULT: fault, NODE_OPTIONS: options });
  await until('its address', () => program.stdout().includes('\n') || program.process.exitCode !== null);
  const { url, api_token: token } = JSON.parse(program.stdout()) as { url: string; api_token: string };
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const slow = 'range x from 1 to 100000000000 step 1 | summarize dcount(hash_sha512(tostring(x)))';
  void fetch(`${url}/v1/query/_apl`, { method: 'POST', headers, body: JSON.stringify({ apl: slow }) }).catch(
    () => undefined,
  );
  const cpu = async (): Promise<number> =>
    Number(/^process_cpu_seconds_total ([\d.]+)/m.exec(await (await fetch(`${url}/metrics`)).text())![1]);
  const before = await cpu();
  await until('the query runs', async () => (await cpu()) > before + 1);
  return program;
}

async function ended(program: Program, signal: NodeJS.Signals): Promise<number | NodeJS.Signals> {
  program.process.kill(signal);
  await until(`${signal} ends it`, () => program.process.exitCode !== null || program.process.signalCode !== null, {
    withinMs: DEADLINE_MS,
  });
  return program.exited;
}

test.each(['SIGABRT', 'SIGSEGV'] as const)(
  'service in the middle of a query ends by %s, which the engine would hold up for ever',
  async (signal) => expect(await ended(await busyService('throw'), signal)).toBe(signal),
);

test.each([
  [
    'an error that nobody catches',
    'throw',
    'tailrace: this is a fault of Tailrace itself, please report it: thrown in a test',
  ],
  [
    'a rejection that nobody handles',
    'reject',
    'tailrace: this is a fault of Tailrace itself, please report it: rejected in a test',
  ],
  ['a full heap', 'fill', 'JavaScript heap out of memory'],
])('service in the middle of a query ends by %s, and says so once', async (_name, fault, message) => {
  const program = await busyService(fault);
  expect(await ended(program, 'SIGUSR2')).toBe('SIGABRT');
  expect(program.stderr().split(message)).toHaveLength(2);
});

test('service leaves the signals of a crash and of a terminal to the system', async () => {
  const { process } = await busyService('throw');
  const caught = BigInt(`0x${/^SigCgt:\s*(\w+)/m.exec(readFileSync(`/proc/${process.pid}/status`, 'utf8'))![1]}`);
  const left = ['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGSYS', 'SIGTRAP', 'SIGTSTP'] as const;
  expect(left.filter((signal) => (caught >> BigInt(constants.signals[signal] - 1)) & 1n)).toEqual([]);
});
