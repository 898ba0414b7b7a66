/** Standard input through the real binary: pipelines as shells and containers make them, and how they end. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { FaultService } from '../support/fault-service.ts';
import { BINARY, type Program, startCommand } from '../support/program.ts';
import { configure, makeSite } from '../support/shipping.ts';
import { until } from '../support/until.ts';
import { beginning } from '../support/begin.ts';

interface Rig {
  readonly folder: string;
  readonly service: FaultService;
  /** Runs a shell's script, in which `$AGENT` is `tailrace run` with the configuration. */
  readonly run: (script: string) => Program;
}

type Event = Record<string, unknown>;

async function setUp(source = '{type: stdin}'): Promise<Rig> {
  const site = await makeSite();
  const config = configure(site, { sources: { pipe: source }, sink: 'batch: {max_age: 20ms}' });
  return {
    ...site,
    run: (script) => startCommand('bash', ['-c', script], { AGENT: `${BINARY} run --config ${config}` }),
  };
}

const test = beginning(() => setUp(), 'folder', 'run', 'service');

/** Events without what every one of them has. */
function eventsOf({ stored }: FaultService): Event[] {
  return stored.map((line) => {
    const { _time: _, host: __, ...rest } = JSON.parse(line) as Event;
    return rest;
  });
}

const agentPid = (folder: string): number => Number(readFileSync(join(folder, 'agent', 'lock.pid'), 'utf8'));

test('stdin takes JSON, text and joined lines to the end of the input, and ends with 0', async () => {
  const { service, run } = await setUp("{type: stdin, multiline: {start: '^[^\\s]'}}");
  const program = run(
    String.raw`printf '{"a":1}\nError: x\n  at y\n\n  at z\nlast line\n  unfinished' | $AGENT; echo "exit $?"`,
  );
  await program.exited;
  expect(program.stdout(), program.stderr()).toBe('exit 0\n');
  expect(eventsOf(service)).toEqual([
    { a: 1 },
    { message: 'Error: x\n  at y\n\n  at z' },
    { message: 'last line\n  unfinished' },
  ]);
});

test('stdin takes CSV by its header', async () => {
  const { service, run } = await setUp('{type: stdin, format: csv, fields: {team: core}}');
  const program = run(String.raw`printf 'level,message\r\ninfo,"two\nlines"\r\nbad\r\n' | $AGENT`);
  expect(await program.exited, program.stderr()).toBe(0);
  expect(eventsOf(service)).toEqual([
    { level: 'info', message: 'two\nlines', team: 'core' },
    { message: 'bad', parse_error: '1 values for 2 columns', team: 'core' },
  ]);
});

test('stdin of a pipe that is closed early ends with what came', async ({ service, run }) => {
  const program = run('yes | head -n 5000 | $AGENT; echo "exit $?"');
  await program.exited;
  expect(program.stdout(), program.stderr()).toBe('exit 0\n');
  expect(eventsOf(service)).toEqual(Array.from({ length: 5000 }, () => ({ message: 'y' })));
});

test('stdin in UTF-16 is read by its byte order mark', async ({ folder, service, run }) => {
  writeFileSync(join(folder, 'input'), Buffer.from('\ufeffÄrger\r\nüber €\r\n', 'utf16le'));
  const program = run(`cat ${folder}/input | $AGENT`);
  expect(await program.exited, program.stderr()).toBe(0);
  expect(eventsOf(service)).toEqual([{ message: 'Ärger' }, { message: 'über €' }]);
});

const canUnshare = spawnSync('unshare', ['--pid', '--fork', 'true']).status === 0;

test.runIf(canUnshare)(
  'stdin as process 1 of a container ends with the input, and with 0',
  async ({ service, run }) => {
    const program = run('seq 1 3000 | unshare --pid --fork $AGENT; echo "exit $?"');
    await program.exited;
    expect(program.stdout(), program.stderr()).toBe('exit 0\n');
    expect(eventsOf(service).map(({ message }) => message)).toEqual(
      Array.from({ length: 3000 }, (_, n) => String(n + 1)),
    );
  },
);

test.runIf(canUnshare)(
  'stdin as process 1 of a container whose writer pauses obeys SIGTERM, and leaves nothing behind',
  async () => {
    const { folder, service, run } = await setUp();
    const program = run('{ echo one; printf unfinished; sleep 1000; } | unshare --pid --fork --kill-child $AGENT');
    await program.says('tailrace runs');
    await until('the line to be delivered', () => service.stored.length === 1);
    // Its own number of itself is 1; from outside it is the child of unshare.
    expect(agentPid(folder)).toBe(1);
    const unshare = childrenOf(program.process.pid!).find((pid) => commandOf(pid).startsWith('unshare'));
    const [agent] = childrenOf(unshare!);
    process.kill(agent!, 'SIGTERM');
    await until('the agent to be gone', () => childrenOf(unshare!).length === 0);
    expect(program.stderr()).toContain('stopped; positions are saved');
    await until('the unfinished line', () => service.stored.length === 2);
    expect(eventsOf(service).map(({ message }) => message)).toEqual(['one', 'unfinished']);
  },
);

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function commandOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
}
