/**
 * What deploy/ has for Prometheus and Grafana: alert rules with promtool's unit tests, a dashboard that keeps to Grafana's schema, and
 * every query of both run against a real Prometheus that scrapes a real agent.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { FakeService, replyWith } from '../support/fake-service.ts';
import { freePort } from '../support/free-port.ts';
import { findProgram } from '../support/installed.ts';
import { startProgram } from '../support/program.ts';
import { configure } from '../support/shipping.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';

const root = join(import.meta.dirname, '..', '..');
const rulesPath = join(root, 'deploy/prometheus/alerts.yaml');
const testsPath = join(root, 'deploy/prometheus/alerts.test.yaml');
const dashboardPath = 'deploy/grafana/tailrace.json';
/** Of Prometheus, and of the service's own events. */
const boardPaths = [dashboardPath, 'deploy/grafana/service/events.json'];
const prometheus = findProgram('prometheus');
const promtool = findProgram('promtool');
const needed = prometheus && promtool ? '' : ' (needs: apt-get install -y prometheus)';
const python = join(root, '.ci/validators/bin/python');
const hasSchema = existsSync(python) && spawnSync(python, ['-c', 'import grafana_foundation_sdk']).status === 0;
const neededSchema = hasSchema
  ? ''
  : ' (needs: python3 -m venv .ci/validators && .ci/validators/bin/pip install grafana-foundation-sdk)';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[];
}

const readBoard = (path: string) =>
  JSON.parse(readFileSync(join(root, path), 'utf8')) as { readonly panels: readonly Panel[] };
const dashboard = readBoard(dashboardPath);
const rules = (
  parse(readFileSync(rulesPath, 'utf8')) as { groups: { rules: { alert: string; expr: string }[] }[] }
).groups.flatMap(({ rules: each }) => each);

test.skipIf(!promtool)(`alert rules are valid, and fire and stay quiet as their unit tests say${needed}`, () => {
  const check = spawnSync(promtool!, ['check', 'rules', rulesPath], { encoding: 'utf8' });
  expect(check, check.stdout + check.stderr).toMatchObject({ status: 0 });
  const tests = spawnSync(promtool!, ['test', 'rules', testsPath], { encoding: 'utf8' });
  expect(tests, tests.stdout + tests.stderr).toMatchObject({ status: 0 });
});

test('every alert rule fires in a unit test', () => {
  const tests = readFileSync(testsPath, 'utf8');
  expect(
    rules
      .map(({ alert }) => alert)
      .filter((alert) => !tests.includes(`alertname="${alert}", alertstate="firing", severity`)),
  ).toEqual([]);
});

test.skipIf(!hasSchema).each(boardPaths)(`a dashboard keeps to Grafana’s schema${neededSchema}: %s`, (path) => {
  const program = [
    'import json, sys',
    'from grafana_foundation_sdk.cog import plugins',
    'from grafana_foundation_sdk.cog.encoder import JSONEncoder',
    'from grafana_foundation_sdk.models.dashboard import Dashboard',
    'plugins.register_default_plugins()',
    'print(JSONEncoder().encode(Dashboard.from_json(json.load(open(sys.argv[1])))))',
  ].join('\n');
  const { status, stdout, stderr } = spawnSync(python, ['-c', program, join(root, path)], { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  // The typed model leaves out what it does not know.
  expect(JSON.parse(stdout)).toMatchObject(readBoard(path));
});

test.each(boardPaths)('panels of %s have ids of their own and do not overlap', (path) => {
  const { panels } = readBoard(path);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const overlaps = panels.flatMap((a, index) =>
    panels
      .slice(index + 1)
      .filter(
        ({ gridPos: b }) =>
          a.gridPos.x < b.x + b.w &&
          b.x < a.gridPos.x + a.gridPos.w &&
          a.gridPos.y < b.y + b.h &&
          b.y < a.gridPos.y + a.gridPos.h,
      )
      .map((b) => `${a.title} / ${b.title}`),
  );
  expect(overlaps).toEqual([]);
  expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
});

/** The real agent, after a retry, a dead letter and its replay, so that each metric has been counted. */
async function startAgent(): Promise<string> {
  const service = await FakeService.start();
  let isRefusing = true;
  service.respond = (request, response) => {
    if (service.requests.length === 1) replyWith(response, 503, {});
    else if (isRefusing && request.lines.some((line) => line.includes('poison')))
      replyWith(response, 400, { message: 'poison' });
    else service.storeAll(request, response);
  };
  const folder = makeTree({ 'app.log': 'one\npoison\nthree\n' });
  const config = configure(
    { folder, url: service.url },
    {
      sources: {
        app: `{type: file, include: [${folder}/*.log]}`,
        net: '{type: syslog, listen: ["udp://127.0.0.1:0"]}',
      },
      sink: 'token: t, batch: {max_age: 50ms}, retry: {initial_backoff: 10ms}',
    },
  );
  const agent = startProgram(['run', '--config', config]);
  onTestFinished(async () => void (await agent.end()));
  const { telemetry } = JSON.parse(await agent.says('tailrace runs')) as { telemetry: string };
  const metrics = async (): Promise<string> => (await fetch(`${telemetry}/metrics`)).text();
  await until('one line is a dead letter', async () =>
    /^tailrace_dead_letter_events_total\{.*\} 1$/m.test(await metrics()),
  );
  isRefusing = false;
  const replayed = startProgram(['dead-letters', 'replay', '--config', config]);
  expect(await replayed.exited, replayed.stderr()).toBe(0);
  expect(service.lines).toHaveLength(3);
  return new URL(telemetry).host;
}

/** A Prometheus that scrapes it each second; resolves to its address. */
async function startPrometheus(target: string): Promise<string> {
  const port = await freePort();
  const folder = makeTree({
    'prometheus.yml': JSON.stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [rulesPath],
      scrape_configs: [{ job_name: 'tailrace', static_configs: [{ targets: [target] }] }],
    }),
  });
  const child = spawn(
    prometheus!,
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  const closed = new Promise((resolve) => child.once('close', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  const url = `http://127.0.0.1:${port}`;
  await until('Prometheus is ready', async () => {
    if (child.exitCode !== null) throw new Error(`Prometheus ended:\n${log}`);
    return (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok ?? false;
  });
  return url;
}

test.skipIf(!prometheus)(
  `every query of the dashboard finds data in a Prometheus that scrapes an agent, and every alert can be evaluated${needed}`,
  async () => {
    const url = await startPrometheus(await startAgent());
    const ask = async (path: string, parameters: Record<string, string>): Promise<unknown> => {
      const reply = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters).toString()}`);
      const body = (await reply.json()) as { status: string; error?: string; data: unknown };
      if (body.status !== 'success') throw new Error(`${JSON.stringify(parameters)}: ${body.error}`);
      return body.data;
    };
    const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ refId, expr }) => ({ name: `${title} ${refId}`, expr })),
    );
    expect(queries.length).toBeGreaterThan(30);
    for (const { name, expr } of queries) {
      const query = expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*');
      const hasData = async () => ((await ask('query', { query })) as { result: unknown[] }).result.length > 0;
      await until(`${name} has data: ${query}`, hasData, { withinMs: 300_000, everyMs: 100 });
    }
    expect(await ask('label/instance/values', { 'match[]': 'tailrace_build_info' })).toHaveLength(1);
    const healths = async (): Promise<string[]> => {
      const { groups } = (await ask('rules', {})) as {
        groups: { rules: { name: string; health: string; lastError?: string }[] }[];
      };
      return groups.flatMap((group) =>
        group.rules.map(({ name, health, lastError }) => `${name} ${health}${lastError ?? ''}`),
      );
    };
    await until(
      'every rule was evaluated',
      async () => !(await healths()).some((health) => health.endsWith('unknown')),
      {
        withinMs: 300_000,
        everyMs: 100,
      },
    );
    expect(await healths()).toEqual(rules.map(({ alert }) => `${alert} ok`));
    // A metric that nobody gives is a rule that never fires: each name must have been scraped.
    const names = new Set((await ask('label/__name__/values', {})) as string[]);
    const wanted = [...rules.flatMap(({ expr }) => expr.match(/\b(?:tailrace|process)_\w+/g) ?? [])];
    expect(wanted.filter((name) => !names.has(name))).toEqual([]);
  },
  120_000,
);
