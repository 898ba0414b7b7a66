/** What commands do on a terminal only: colours, cut tables, progress, questions, a readable log. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { API_TOKEN, startLocalService } from '../support/local-service.ts';
import { test } from '../support/fake-service.ts';
import { BINARY, startProgram } from '../support/program.ts';
import { hasPty, ptyHint, startOnTerminal } from '../support/pty.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';

interface Typed {
  readonly input?: string;
  /** The output to wait for before typing. */
  readonly asked?: string;
  readonly env?: Record<string, string>;
  readonly columns?: number;
}

/** Runs `tailrace` on a terminal, by default of 80 columns; resolves with all output, `ESC` for the escape character. */
async function onTerminal(
  url: string,
  args: readonly string[],
  { input, asked = '[y/N]', env = {}, columns = 80 }: Typed = {},
): Promise<string> {
  const sized = ['sh', '-c', `stty cols ${columns} rows 24; exec "$@"`, 'sh', BINARY, ...args];
  const terminal = startOnTerminal(sized, { TAILRACE_URL: url, TAILRACE_TOKEN: 'xaat-1', ...env });
  if (input !== undefined) {
    await until(asked, () => terminal.raw().includes(asked));
    terminal.type(input);
  }
  const code = await terminal.exited;
  return `${terminal.raw().replaceAll('\r\n', '\n').replaceAll('\u001B', 'ESC')}ended with ${code}`;
}

describe.skipIf(!hasPty)(`a terminal${ptyHint}`, () => {
  // Symptom: `tailrace preview` alone waited without a word.
  test('preview announces that it reads the terminal, and how to name a file', async () => {
    const input = '2026-05-01T10:00:00Z typed\n\u0004';
    const seen = await onTerminal('', ['preview', '--preset', 'logfmt'], { input, asked: 'Ctrl-D' });
    expect(seen).toContain(
      'tailrace: type or paste lines of source "preview", then Ctrl-D; or name files: tailrace preview FILE…\n',
    );
    expect(seen).toContain('"message":"2026-05-01T10:00:00Z typed"');
  });

  test('shows a table no wider than itself, its head in bold', async ({ service }) => {
    service.events.set('logs', [{ message: 'x'.repeat(200), empty: null, zone: 'eu' }]);
    const seen = await onTerminal(service.url, ['query', 'logs', '-o', 'table']);
    const [head, row, end] = seen.split('\n');
    expect(head).toMatch(/^ESC\[1m_time +message +zoneESC\[22m$/);
    expect(row).toMatch(/^2026-01-01T00:00:00.000Z {2}x+… {2}eu$/);
    // Its last column is four wide.
    expect(row).toHaveLength(78);
    expect(end).toBe('1 row, 1 ms');
  });

  // Symptom: "41 columns more than fit the terminal" and a head of ten columns above "0 rows".
  test.each([['-o', 'table'], ['--limit', '5'], []])(
    'shows no head where there are no rows: %s %s',
    async (...args) => {
      const folder = makeTree({});
      const service = await startLocalService(folder, 'logs');
      onTestFinished(async () => void (await service.program.end('SIGKILL')));
      await service.ask('POST', '/v1/ingest/logs', [
        Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`a_long_name_${n}`, n])),
      ]);
      const ask = ['query', 'logs | where a_long_name_1 > 7', ...args];
      expect(await onTerminal(service.url, ask, { env: { TAILRACE_TOKEN: API_TOKEN } })).toMatch(
        /^0 rows, \d+ ms\nended with 0$/,
      );
    },
  );

  test('shows a stack trace as its lines', async ({ service }) => {
    service.events.set('logs', [{ message: 'Error: no\n\tat main (app.js:7)', zone: 'eu' }]);
    const seen = await onTerminal(service.url, ['query', 'logs', '-o', 'table']);
    expect(seen).toMatch(/^2026\S+ {2}Error: no {15}eu\n {30}at main \(app\.js:7\)\n1 row/m);
  });

  test('that does not know its size has nothing cut', async ({ service }) => {
    service.events.set('logs', [{ message: 'x'.repeat(200), zone: 'eu' }]);
    const seen = await onTerminal(service.url, ['query', 'logs | project message, zone', '-o', 'table'], {
      columns: 0,
    });
    expect(seen).toContain(`${'x'.repeat(200)}  eu`);
    expect(seen).toMatch(/ended with 0$/);
  });

  test('has no colours with NO_COLOR', async ({ service }) => {
    expect(await onTerminal(service.url, ['orgs'], { env: { NO_COLOR: '1' } })).not.toContain('ESC');
  });

  test('says that there are more rows than it shows', async ({ service }) => {
    service.events.set(
      'logs',
      Array.from({ length: 1500 }, (_, n) => ({ n })),
    );
    expect(await onTerminal(service.url, ['query', 'logs'])).toContain(
      '1,000 of 1,500 matching rows, 1 ms; --limit N or --all for more',
    );
  });

  // Symptom: "5 of 244 matching rows; --limit N or --all for more" below a summary that was whole.
  test('says of a summary how many rows it has, and not that there are more', async () => {
    const folder = makeTree({});
    const service = await startLocalService(folder, 'logs');
    onTestFinished(async () => void (await service.program.end('SIGKILL')));
    await service.ask(
      'POST',
      '/v1/ingest/logs',
      Array.from({ length: 20 }, (_, n) => ({ n })),
    );
    const env = { TAILRACE_TOKEN: API_TOKEN };
    expect(await onTerminal(service.url, ['query', 'logs | summarize count() by n % 2'], { env })).toMatch(
      /^2 rows, \d+ ms$/m,
    );
    expect(await onTerminal(service.url, ['query', 'logs | sort by n asc | take 3'], { env })).toMatch(
      /^3 rows, \d+ ms$/m,
    );
    expect(await onTerminal(service.url, ['query', 'logs', '--limit', '3'], { env })).toMatch(/^3 rows, \d+ ms$/m);
  });

  test('shows how far ingest is, and the sum at the end', async ({ service }) => {
    service.datasets.set('logs', {
      id: 'logs',
      name: 'logs',
      description: '',
      created: '',
      integrationConfigs: [],
      who: '',
    });
    const folder = makeTree({});
    const path = join(folder, 'many.ndjson');
    writeFileSync(path, '{"n":1}\n'.repeat(200_000));
    const seen = await onTerminal(service.url, ['ingest', 'logs', path]);
    expect(seen).toMatch(
      /\rESC\[K[^\r]*many\.ndjson {2}[\d.]+ [KM]iB of 1\.5 MiB \(\d+%\) {2}[\d,]+ events? \([\d,]+\/s, [\d.]+ [KM]?i?B\/s\)/,
    );
    expect(seen).toMatch(/\rESC\[K200,000 events ingested into logs, 0 failed \(1\.5 MiB in [\d.]+ s\)\nended with 0$/);
  });

  test('asks before it deletes, and does nothing without a yes', async ({ service }) => {
    const dataset = { id: 'logs', name: 'logs', description: '', created: '', integrationConfigs: [], who: '' };
    service.datasets.set('logs', dataset);
    const kept = await onTerminal(service.url, ['datasets', 'delete', 'logs'], { input: 'n\r' });
    expect(kept).toContain('Delete the dataset logs and all its events? [y/N]');
    expect(kept).toMatch(/Nothing was changed.\nended with 1$/);
    for (const key of ['\u0003', '\u0004'])
      expect(await onTerminal(service.url, ['datasets', 'delete', 'logs'], { input: key })).toMatch(
        /Nothing was changed.\nended with 1$/,
      );
    expect(service.datasets.has('logs')).toBe(true);
    expect(await onTerminal(service.url, ['datasets', 'delete', 'logs'], { input: 'y\r' })).toMatch(/ended with 0$/);
    expect(service.datasets.has('logs')).toBe(false);
    service.datasets.set('logs', dataset);
    expect(await onTerminal(service.url, ['datasets', 'delete', 'logs', '--yes'])).not.toContain('[y/N]');
    expect(service.datasets.has('logs')).toBe(false);
  });

  test('is not waited for when there is nothing to read', async ({ service }) => {
    expect(await onTerminal(service.url, ['ingest', 'logs'])).toMatch(/nothing to ingest[^]*ended with 2$/);
    expect(await onTerminal(service.url, ['query'])).toMatch(/no query[^]*ended with 2$/);
  });

  test('has the agent’s log as readable lines, anything else as JSON', async ({ service }) => {
    service.datasets.set('logs', {
      id: 'logs',
      name: 'logs',
      description: '',
      created: '',
      integrationConfigs: [],
      who: '',
    });
    const folder = makeTree({ 'a.log': 'a line\n' });
    const config = join(folder, 'tailrace.yaml');
    const source = `sources: {app: {type: file, include: ["${folder}/*.log"]}}`;
    const sink = `sinks: {store: {type: ingest, url: "${service.url}", token: x, dataset: logs}}`;
    writeFileSync(config, `data_dir: ${folder}/data\n${source}\n${sink}\ntelemetry: {listen: none}\n`);
    const run = ['run', '--once', '--config', config];
    const seen = await onTerminal(service.url, run, { env: { NO_COLOR: '1' } });
    expect(seen).toMatch(/^\[\d\d:\d\d:\d\d\] INFO: tailrace runs \{.*\}$/m);
    expect(seen).toMatch(/ended with 0$/);
    expect(await onTerminal(service.url, run)).toContain('ESC[32mINFO');

    const piped = startProgram(run);
    expect(await piped.exited).toBe(0);
    const lines = piped.stderr().trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toContain('tailrace runs');
    expect(piped.stdout()).toBe('');
  });
});
