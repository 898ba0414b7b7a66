/** Lines over `max_event_bytes` through the real binary: the events that arrive, the dead letters, and the memory it takes. */
import { closeSync, ftruncateSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FakeService, replyWith } from '../support/fake-service.ts';
import { BINARY, type Program, startCommand, startProgram } from '../support/program.ts';
import { valueOf } from '../support/prometheus-text.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';
import { configure, metricsOf } from '../support/shipping.ts';

const MEBIBYTE = 1024 * 1024;
const LINE_BYTES = 1024 * MEBIBYTE;

/** What a service sees of events of which it keeps only the beginnings: a gigabyte of them comes. */
interface Seen {
  readonly message: string;
  readonly bytes: number;
  readonly rest: Record<string, unknown>;
}

interface Rig {
  readonly folder: string;
  readonly config: string;
  readonly seen: Seen[];
}

async function setUp(source: string): Promise<Rig> {
  const folder = makeTree({ 'logs/.keep': '' });
  const service = await FakeService.start();
  const seen: Seen[] = [];
  service.respond = (request, response) => {
    for (const line of request.lines) {
      const {
        message,
        _time: _,
        host: __,
        ...rest
      } = JSON.parse(line) as { message: string; _time: string; host: string };
      seen.push({ message: message.slice(0, 20), bytes: Buffer.byteLength(message), rest });
    }
    const { length } = request.lines;
    replyWith(response, 200, {
      ingested: length,
      failed: 0,
      failures: [],
      processedBytes: 1,
      blocksCreated: 1,
      walLength: 1,
    });
    service.requests.length = 0;
  };
  const app = source.replaceAll('LOGS', join(folder, 'logs'));
  const config = configure(
    { folder, url: service.url },
    { sources: { app }, sink: 'compression: none, batch: {max_age: 50ms}' },
  );
  return { folder, config, seen };
}

/** The shell's pipeline of a gigabyte without a newline between two lines, into the agent. */
function pipeGigabyte(config: string): Program {
  const script = `{ echo before; head -c ${LINE_BYTES} /dev/zero | tr '\\0' x; printf '\\nafter\\n'; } | "$0" run --config "$1"; echo "exit $?"`;
  return startCommand('bash', ['-c', script, BINARY, config]);
}

/** The most memory that the agent of a data folder had, in KiB, looked at while it runs. */
async function watchMemory(program: Program, folder: string): Promise<() => number> {
  await program.says('tailrace runs');
  const pid = /\d+/.exec(readFileSync(join(folder, 'agent', 'lock.pid'), 'utf8'))?.[0];
  let peak = 0;
  const look = (): void => {
    try {
      peak = Math.max(peak, Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0));
    } catch {
      clearInterval(timer);
    }
  };
  const timer = setInterval(look, 50);
  onTestFinished(() => clearInterval(timer));
  look();
  return () => {
    expect(peak).toBeGreaterThan(20 * 1024);
    return peak;
  };
}

test('a line of 1 GiB on stdin is cut, its neighbours arrive, and memory stays flat', async () => {
  const { config, folder, seen } = await setUp('{type: stdin}');
  const program = pipeGigabyte(config);
  const peak = await watchMemory(program, folder);
  expect(await program.exited).toBe(0);
  expect(program.stdout()).toContain('exit 0');
  expect(seen.toSorted((a, b) => b.bytes - a.bytes)).toEqual([
    { message: 'x'.repeat(20), bytes: MEBIBYTE, rest: { truncated: true, original_bytes: LINE_BYTES } },
    { message: 'before', bytes: 6, rest: {} },
    { message: 'after', bytes: 5, rest: {} },
  ]);
  expect(peak()).toBeLessThan(200 * 1024);
});

test('a line of 1 GiB on stdin is sent in parts, in order, and memory stays flat', async () => {
  const { config, folder, seen } = await setUp('{type: stdin, on_oversize: split}');
  const program = pipeGigabyte(config);
  const peak = await watchMemory(program, folder);
  expect(await program.exited).toBe(0);
  const parts = seen
    .filter(({ rest }) => 'part' in rest)
    .toSorted((a, b) => Number(a.rest['part']) - Number(b.rest['part']));
  expect(parts.map(({ rest }) => rest['part'])).toEqual(Array.from({ length: 1024 }, (_, n) => n + 1));
  expect(parts.every(({ bytes }) => bytes === MEBIBYTE)).toBe(true);
  expect(parts.flatMap(({ rest }) => (rest['part_last'] ? [rest['part']] : []))).toEqual([1024]);
  expect(seen.filter(({ rest }) => !('part' in rest)).map(({ message }) => message)).toEqual(['before', 'after']);
  expect(peak()).toBeLessThan(300 * 1024);
});

test('a line of 1 GiB in a file, most of it a hole, is cut, its neighbours arrive, and memory stays flat', async () => {
  const { config, folder, seen } = await setUp('{type: file, include: ["LOGS/*.log"]}');
  const fd = openSync(join(folder, 'logs', 'app.log'), 'w');
  writeSync(fd, 'before\nlong');
  ftruncateSync(fd, LINE_BYTES);
  writeSync(fd, '\nafter\n', LINE_BYTES);
  closeSync(fd);
  const program = startProgram(['run', '--config', config]);
  const peak = await watchMemory(program, folder);
  await until('all three are stored', () => seen.length === 3, { withinMs: 120_000 });
  const file = join(folder, 'logs', 'app.log');
  expect(seen.toSorted((a, b) => b.bytes - a.bytes)).toEqual([
    {
      message: `long${'\0'.repeat(16)}`,
      bytes: MEBIBYTE,
      rest: { file, truncated: true, original_bytes: LINE_BYTES - 7 },
    },
    { message: 'before', bytes: 6, rest: { file } },
    { message: 'after', bytes: 5, rest: { file } },
  ]);
  expect(peak()).toBeLessThan(200 * 1024);
  expect(await program.end('SIGTERM')).toBe(0);
});

test('a long line of a file is sent in parts, also over a restart in its middle', async () => {
  const { config, folder, seen } = await setUp(
    '{type: file, include: ["LOGS/*.log"], on_oversize: split, scan_interval: 100ms, partial_timeout: 1h}',
  );
  const file = join(folder, 'logs', 'app.log');
  const line = 'abcdefg'.repeat(MEBIBYTE);
  writeFileSync(file, `before\n${line.slice(0, 4 * MEBIBYTE)}`);
  const first = startProgram(['run', '--config', config]);
  await until('its first parts', () => seen.length >= 4);
  expect(await first.end('SIGTERM')).toBe(0);
  writeFileSync(file, `${line.slice(4 * MEBIBYTE)}\nafter\n`, { flag: 'a' });
  const again = startProgram(['run', '--config', config]);
  await until('the next line', () => seen.some(({ message }) => message === 'after'));
  expect(await again.end('SIGTERM')).toBe(0);
  const parts = seen
    .filter(({ rest }) => 'part' in rest)
    .toSorted((a, b) => Number(a.rest['part']) - Number(b.rest['part']));
  expect(parts.map(({ rest, bytes }) => [rest['part'], bytes, rest['part_last']])).toEqual(
    Array.from({ length: 7 }, (_, n) => [n + 1, MEBIBYTE, n === 6 ? true : undefined]),
  );
  expect(parts.map(({ message }) => message)).toEqual(parts.map((_, n) => line.slice(n * MEBIBYTE, n * MEBIBYTE + 20)));
  expect(seen.length).toBe(9);
});

test('a long line of a file goes to the dead letters with its reason, and the next ones arrive', async () => {
  const { config, folder, seen } = await setUp(
    '{type: file, include: ["LOGS/*.log"], on_oversize: dead_letter, scan_interval: 200ms}',
  );
  writeFileSync(join(folder, 'logs', 'app.log'), `before\n${'y'.repeat(3 * MEBIBYTE)}\nafter\n`);
  const program = startProgram(['run', '--config', config]);
  const { telemetry } = JSON.parse(await program.says('tailrace runs')) as { telemetry: string };
  await until('both neighbours', () => seen.length === 2);
  expect(seen.map(({ message }) => message)).toEqual(['before', 'after']);
  const list = startProgram(['dead-letters', 'list', '--json', '--config', config]);
  expect(await list.exited).toBe(0);
  const [letter] = list
    .stdout()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(letter).toMatchObject({
    source: 'app',
    file: join(folder, 'logs', 'app.log'),
    offset: 7,
    status: 0,
    kind: 'too_large',
  });
  expect(letter!['reason']).toBe(
    'the line has 3145728 bytes, more than max_event_bytes (1048576); its beginning is kept',
  );
  expect(letter!['event']).toMatchObject({ truncated: true, original_bytes: 3 * MEBIBYTE });
  const metrics = await metricsOf(telemetry);
  expect(valueOf(metrics, 'tailrace_source_oversize_lines_total', { source: 'app' })).toBe(1);
  expect(valueOf(metrics, 'tailrace_events_total', { source: 'app', outcome: 'dead_lettered' })).toBe(1);
  expect(valueOf(metrics, 'tailrace_events_total', { source: 'app', outcome: 'delivered' })).toBe(2);
  expect(await program.end('SIGTERM')).toBe(0);
});

test('a line that grows over 1 MiB by its repair is cut so that its string is short enough', async () => {
  const { config, folder, seen } = await setUp('{type: file, include: ["LOGS/*.log"]}');
  writeFileSync(
    join(folder, 'logs', 'app.log'),
    Buffer.concat([Buffer.alloc(MEBIBYTE, 0xe9), Buffer.from('\nafter\n')]),
  );
  const program = startProgram(['run', '--once', '--config', config]);
  expect(await program.exited, program.stderr()).toBe(0);
  const [after, cut] = seen.toSorted((a, b) => a.bytes - b.bytes);
  expect([seen.length, after!.message, cut!.message]).toEqual([2, 'after', '\ufffd'.repeat(20)]);
  expect(cut!.rest).toMatchObject({ truncated: true, original_bytes: MEBIBYTE });
  expect(cut!.bytes).toBeLessThanOrEqual(MEBIBYTE);
  expect(cut!.bytes).toBeGreaterThan(MEBIBYTE - 64);
});
