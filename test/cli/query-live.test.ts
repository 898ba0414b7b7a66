/** `tailrace query` against the real service: `--follow`, and the chart that a terminal gets. */
import { describe, expect, test } from 'vitest';
import type { Table } from '../../src/client/api-types.ts';
import { chartLines } from '../../src/cli/client/output/chart.ts';
import { textWidth } from '../../src/cli/client/output/table.ts';
import { API_TOKEN, localService } from '../support/local-service.ts';
import { BINARY, type Program, startProgram } from '../support/program.ts';
import { hasPty, ptyHint, startOnTerminal } from '../support/pty.ts';
import { until } from '../support/until.ts';
import { tailraceFor } from './tailrace.ts';

const service = localService('logs');
const env = () => ({ TAILRACE_URL: service.url, TAILRACE_TOKEN: API_TOKEN });
const send = (events: object[]) => service.ask('POST', '/v1/ingest/logs', events);

/** Sends such events, all with the message 0, until the condition holds. */
const sendUntil = (kind: string, condition: () => boolean) =>
  until(`enough events of kind ${kind}`, async () => condition() || (await send([{ kind, message: 0 }]), false), {
    everyMs: 200,
  });

function follow(query: string, ...more: string[]): { program: Program; messages: () => unknown[] } {
  const program = startProgram(['query', query, '--follow', ...more], env());
  const lines = () => program.stdout().split('\n').slice(0, -1);
  return { program, messages: () => lines().map((line) => (JSON.parse(line) as { message: unknown }).message) };
}

test('query --follow --limit ends after so many, and refuses what it cannot follow', async () => {
  const { program, messages } = follow(`['logs'] | where kind == "few"`, '--limit', '2');
  await sendUntil('few', () => program.process.exitCode !== null);
  expect(await program.exited).toBe(0);
  expect(messages()).toEqual([0, 0]);
  const tailrace = tailraceFor(env());
  expect(await tailrace(['query', `['logs'] | summarize count()`, '--follow'])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('leave out summarize'),
  });
  expect(await tailrace(['query', '-d', 'logs', '{}', '--follow'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--dataset'),
  });
  expect(await tailrace(['query', `['logs'] | wher x`, '--follow'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('wher'),
  });
});

describe.skipIf(!hasPty)(`a terminal${ptyHint}`, () => {
  test('draws a series over time below its rows, a pipe does not', async () => {
    const events = Array.from({ length: 60 }, (_, n) => ({
      _time: new Date(Date.UTC(2026, 4, 1, 10, n % 20)).toISOString(),
      zone: n % 3 === 0 ? 'eu' : 'us',
      kind: 'chart',
    }));
    await send(events);
    const query = `['logs'] | where kind == "chart" | summarize n = count() by bin(_time, 1m), zone`;
    const terminal = startOnTerminal(
      [BINARY, 'query', query, '--start', '2026-05-01T10:00:00Z', '--end', '2026-05-01T10:20:00Z'],
      env(),
    );
    expect(await terminal.exited).toBe(0);
    expect(terminal.raw()).toMatch(/us {2}[▁▂▃▄▅▆▇█]{20} {2}2 to 2/);
    expect(terminal.raw()).toMatch(/2026-05-01T10:00Z *2026-05-01T10:19Z/);
    const tailrace = tailraceFor(env());
    for (const more of [[], ['--json']])
      expect((await tailrace(['query', query, ...more])).stdout).not.toMatch(/[▁▂▃▄▅▆▇█]/);
  });
});

test('chart lines are no wider than the terminal, and leave out values without room', () => {
  const steps = 150;
  const times = Array.from({ length: steps }, (_, n) => new Date(Date.UTC(2026, 0, 1, 0, n)).toISOString());
  const groups = Array.from({ length: 12 }, (_, n) => `group \u001B[2J ${n} 界`);
  const table: Table = {
    name: '0',
    sources: [],
    fields: [
      { name: '_time', type: 'datetime' },
      { name: 'zone', type: 'string' },
      { name: 'n', type: 'integer', agg: { name: 'count' } },
    ],
    order: [],
    groups: [{ name: '_time' }, { name: 'zone' }],
    buckets: { field: '_time', size: 60e9 },
    columns: [
      groups.flatMap(() => times),
      groups.flatMap((group) => times.map(() => group)),
      groups.flatMap((_, g) => times.map((__, n) => g * n)),
    ],
  };
  expect(chartLines(table, 100)).toHaveLength(10);
  for (let columns = 1; columns < 200; columns += 9)
    for (const line of chartLines(table, columns)) {
      expect(textWidth(line)).toBeLessThanOrEqual(columns);
      expect(line).not.toMatch(/\p{Cc}/u);
    }
  expect(chartLines(table, 20)).toEqual([]);
  expect(chartLines({ ...table, columns: table.columns.map((column) => column.slice(0, 1)) }, 100)).toEqual([]);
});

// The last, as it ends the service.
test('query --follow shows each event once as it is stored, goes on over a restart of the service, and ends with 0 at Ctrl-C', async () => {
  const { program, messages: all } = follow(`['logs'] | where kind == "a" | project message`);
  // Events stored long before it began are not shown.
  await sendUntil('a', () => all().length > 0);
  const messages = () => all().filter((message) => message !== 0);
  await send([
    { kind: 'a', message: 1 },
    { kind: 'b', message: 1 },
  ]);
  await until('the first is shown', () => messages().length === 1);
  // Stored late: its own time is long before those that were shown.
  await send([{ kind: 'a', message: 2, _time: new Date(Date.now() - 600_000).toISOString() }]);
  await until('the second is shown', () => messages().length === 2);
  await service.program.end('SIGKILL');
  await until('it says that the service is away', () => program.stderr() !== '');
  await service.again();
  await send(Array.from({ length: 100 }, (_, n) => ({ kind: 'a', message: n + 3 })));
  await until('the others are shown', () => messages().length >= 102);
  await send([{ kind: 'a', message: 103 }]);
  await until('the last is shown', () => messages().includes(103));
  expect(messages().slice(0, 2)).toEqual([1, 2]);
  expect(messages().at(-1)).toBe(103);
  expect(messages().toSorted((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 103 }, (_, n) => n + 1));
  program.process.kill('SIGINT');
  expect(await program.exited).toBe(0);
});
