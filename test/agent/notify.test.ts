/**
 * The notifications that systemd gets (sd_notify): recorded by a socket of Python's, as Node has none that receives datagrams on a path.
 */
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { FakeService } from '../support/fake-service.ts';
import { findProgram } from '../support/installed.ts';
import { startProgram } from '../support/program.ts';
import { configure } from '../support/shipping.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';

const python = findProgram('python3');
const needed = python === undefined ? ' (apt-get install -y python3)' : '';

/** Prints each datagram as one line, with the monotonic microseconds of its arrival in front. */
const RECORDER = `
import socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('bound', flush=True)
while True:
    text = s.recv(65536).decode()
    print(time.monotonic_ns() // 1000, text.rstrip('\\n').replace('\\n', ' | '), flush=True)
`;

async function record(path: string): Promise<{ atUs: number; text: string }[]> {
  const recorder = spawn(python!, ['-c', RECORDER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void recorder.kill('SIGKILL'));
  const told: { atUs: number; text: string }[] = [];
  let isBound = false;
  createInterface(recorder.stdout).on('line', (line) => {
    if (line === 'bound') isBound = true;
    else told.push({ atUs: Number(line.split(' ', 1)[0]), text: line.slice(line.indexOf(' ') + 1) });
  });
  await until('the recorder listens', () => isBound);
  return told;
}

test.skipIf(python === undefined)(
  `systemd is notified of start, reloads, a failed one too, progress, states and the stop${needed}`,
  async () => {
    const service = await FakeService.start();
    const folder = makeTree({ 'a.log': '' });
    const configureWith = (more: string): string => {
      const a = `{type: file, include: ["${folder}/a.log"], scan_interval: 100ms${more}}`;
      const sink = 'token: t, batch: {max_age: 50ms}, retry: {initial_backoff: 50ms, max_backoff: 100ms}';
      return configure({ folder, url: service.url }, { sources: { a }, sink });
    };
    const config = configureWith('');
    const told = await record(join(folder, 'notify'));
    const texts = (): string[] => told.map(({ text }) => text);
    const program = startProgram(['run', '--config', config], {
      NOTIFY_SOCKET: join(folder, 'notify'),
      WATCHDOG_USEC: '1500000',
    });
    await until('it is ready, or has ended', () => told.length > 0 || program.process.exitCode !== null);
    expect(texts()[0], program.stderr()).toMatch(/^READY=1 \| STATUS=.*store/);
    const ready = (): number => texts().filter((text) => text.startsWith('READY=1')).length;

    for (const [n, more] of [', fields: {n: 1}', ', no_such_key: 1'].entries()) {
      configureWith(more);
      program.process.kill('SIGHUP');
      await until('it is ready again', () => ready() === n + 2);
      const order = told.filter(({ text }) => /^(READY|RELOADING)=1/.test(text));
      const { atUs, text } = order.at(-2)!;
      const [, saidUs] = /^RELOADING=1 \| MONOTONIC_USEC=(\d+)$/.exec(text)!;
      expect(Number(saidUs)).toBeLessThanOrEqual(atUs);
      expect(Number(saidUs)).toBeGreaterThan(told[0]!.atUs);
    }

    const beats = (): number => texts().filter((text) => text === 'WATCHDOG=1').length;
    const before = beats();
    await until('it says that it works', () => beats() >= before + 3);

    service.respond = (_request, response) => void response.writeHead(403).end();
    appendFileSync(join(folder, 'a.log'), 'refused\n');
    await until('the status names the refusal', () => texts().some((text) => /^STATUS=.*store.*403/.test(text)));

    program.process.kill('SIGTERM');
    expect(await program.exited).toBe(0);
    await until('the stop is told', () => texts().some((text) => text.startsWith('STOPPING=1 | STATUS=stopping')));
  },
);
