/** The manifests in deploy/: valid for Kubernetes' own schemas, with configurations that `check` accepts, and pod logs end to end. */
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { describeShortMemory } from '../../src/agent/build/memory-limit.ts';
import { startProgram } from '../support/program.ts';
import { test } from '../support/fake-service.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';

const root = join(import.meta.dirname, '..', '..');
const validator = join(root, '.ci/validators/bin/kubernetes-validate');
const hasValidator = existsSync(validator);
const needed = hasValidator
  ? ''
  : ' (needs: python3 -m venv .ci/validators && .ci/validators/bin/pip install kubernetes-validate; apt-get install -y python3-venv)';
const read = (path: string): string => readFileSync(join(root, 'deploy', path), 'utf8');

test
  .skipIf(!hasValidator)
  .each(
    globSync('deploy/kubernetes/**/*.yaml', { cwd: root }).filter(
      (path) => !/kustomization|podmonitor|tailrace\.yaml$/.test(path),
    ),
  )(`%s is valid for Kubernetes’ schemas${needed}`, (path) => {
  const { status, stdout, stderr } = spawnSync(validator, ['--strict', join(root, path)], { encoding: 'utf8' });
  expect({ status, out: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, out: '' });
});

const compose = join(root, '.ci/validators/compose/cmd');

test.skipIf(!existsSync(compose))(
  'compose.yaml is what the Compose specification takes (needs what .ci/run builds: github.com/compose-spec/compose-go/v2/cmd)',
  () => {
    const load = (path: string) =>
      spawnSync(compose, ['-format', 'json', path], {
        encoding: 'utf8',
        env: { TAILRACE_TOKEN: 'secret', TAILRACE_URL: 'http://h' },
      });
    const { status, stdout, stderr } = load(join(root, 'deploy/compose.yaml'));
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ services: { tailrace: { read_only: true, cap_drop: ['all'] } } });
    const folder = makeTree({ 'compose.yaml': read('compose.yaml').replace('read_only:', 'read_onyl:') });
    expect(load(join(folder, 'compose.yaml'))).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('read_onyl'),
    });
  },
);

interface ConfigMap {
  readonly data: Record<string, string>;
}

const configurations: readonly (readonly [string, string])[] = [
  ['the DaemonSet', read('kubernetes/daemonset/tailrace.yaml')],
  ['the sidecar', (parseAllDocuments(read('kubernetes/sidecar.yaml'))[0]!.toJS() as ConfigMap).data['tailrace.yaml']!],
  [
    'Compose',
    (parse(read('compose.yaml')) as { configs: { tailrace: { content: string } } }).configs.tailrace.content.replaceAll(
      '$$',
      '$',
    ),
  ],
];

test.for(configurations)('configuration of %s is valid', async ([, text]) => {
  const folder = makeTree({ 'tailrace.yaml': text.replace('/run/tailrace/token', 'token'), token: 'secret' });
  const program = startProgram(['check', '--json', '--config', join(folder, 'tailrace.yaml')], {
    TAILRACE_URL: 'http://127.0.0.1:4100',
    TAILRACE_TOKEN: 'secret',
    NODE_NAME: 'node-1',
  });
  expect(await program.exited, program.stdout()).toBe(0);
});

/** A row of the sizing table of docs/operations.md: what `deploy/` gives. */
function sizeOf(what: string) {
  const text = readFileSync(join(root, 'docs/operations.md'), 'utf8');
  const rows = text.split('\n').map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')));
  const [, , mode, request, limit, cpu] = rows.find((row) => row[1] === what)!;
  return { memory: mode, resources: { requests: { cpu, memory: request }, limits: { memory: limit } } };
}

interface Sized {
  readonly resources: unknown;
}

test('limits in deploy/ are those of docs/operations.md, and none of them is warned of', () => {
  const sidecar = sizeOf('a sidecar: files, up to 1,000 lines a second');
  const node = sizeOf('a node: up to 1,000 files, 10,000 lines a second');
  const chart = parse(read('helm/tailrace/values.yaml')) as Sized & { sidecar: Sized };
  const inCompose = parse(read('compose.yaml')) as { services: { tailrace: Record<string, string> } };
  const daemonSet = parse(read('kubernetes/daemonset/daemonset.yaml')) as {
    spec: { template: { spec: { containers: Sized[] } } };
  };
  const deployment = parseAllDocuments(read('kubernetes/sidecar.yaml'))[1]!.toJS() as {
    spec: { template: { spec: { initContainers: Sized[] } } };
  };
  const resources = (sized: Sized | Sized[]) => [sized].flat()[0]!.resources;
  expect(resources(deployment.spec.template.spec.initContainers)).toEqual(sidecar.resources);
  expect(resources(chart.sidecar)).toEqual(sidecar.resources);
  expect(inCompose.services.tailrace).toMatchObject({
    mem_reservation: sidecar.resources.requests.memory!.replace('Mi', 'm'),
    mem_limit: sidecar.resources.limits.memory!.replace('Mi', 'm'),
  });
  expect(resources(daemonSet.spec.template.spec.containers)).toEqual(node.resources);
  expect(resources(chart)).toEqual(node.resources);
  const modes = configurations.map(([, text]) => (parse(text) as { memory?: string }).memory ?? 'default');
  expect(modes).toEqual([node.memory, sidecar.memory, sidecar.memory]);
  for (const { resources: size } of [sidecar, node])
    expect(describeShortMemory(parseInt(size.limits.memory!, 10) * 1024 ** 2)).toBeUndefined();
});

test('pod logs arrive with their metadata and JSON fields, also over a rotation by the kubelet', async ({
  service,
}) => {
  const pod = 'var/log/pods/shop_cart-7d4b9_11111111-2222-4333-8444-555555555555/cart';
  const folder = makeTree({ token: 'secret' });
  mkdirSync(join(folder, pod), { recursive: true });
  const log = join(folder, pod, '0.log');
  const line = (seq: number): string => `2026-11-22T10:00:0${seq}.123456789Z stdout F {"seq":${seq},"level":"info"}\n`;
  writeFileSync(log, line(0));
  const config = read('kubernetes/daemonset/tailrace.yaml')
    .replaceAll('/var/log', join(folder, 'var/log'))
    .replace('/run/tailrace/token', 'token')
    .replace('0.0.0.0:9600', '127.0.0.1:0');
  writeFileSync(join(folder, 'tailrace.yaml'), `data_dir: data\n${config}`);
  const agent = startProgram(['run', '--config', join(folder, 'tailrace.yaml')], {
    TAILRACE_URL: service.url,
    NODE_NAME: 'node-1',
  });
  const events = (): Record<string, unknown>[] =>
    [...service.stored.values()].flat().map((event) => JSON.parse(event) as Record<string, unknown>);
  const has = (seq: number) =>
    until(`line ${seq}`, () => events().some((event) => event['seq'] === seq), { withinMs: 300_000 });
  try {
    await has(0);
    appendFileSync(log, line(1));
    // As the kubelet rotates: renamed with the time, and made anew.
    renameSync(log, `${log}.20261122-101500`);
    writeFileSync(log, line(2));
    await has(1);
    await has(2);
  } finally {
    await agent.end('SIGTERM');
  }
  expect(events()).toHaveLength(3);
  expect(events()[0]).toMatchObject({
    _time: '2026-11-22T10:00:00.123456789Z',
    namespace: 'shop',
    pod: 'cart-7d4b9',
    uid: '11111111-2222-4333-8444-555555555555',
    container: 'cart',
    stream: 'stdout',
    level: 'info',
    node: 'node-1',
  });
});
