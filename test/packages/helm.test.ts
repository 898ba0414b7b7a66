/** The Helm chart: rendered by Helm itself, valid for Kubernetes' own schemas, and in step with the kustomize manifests. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { findProgram } from '../support/installed.ts';
import { startProgram } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';

const root = join(import.meta.dirname, '..', '..');
const chart = join(root, 'deploy/helm/tailrace');
const validators = join(root, '.ci/validators/bin');
const helm = existsSync(join(validators, 'helm')) ? join(validators, 'helm') : findProgram('helm');
const validator = join(validators, 'kubernetes-validate');
const canRun = helm !== undefined && existsSync(validator);
const needed = canRun
  ? ''
  : ' (needs: python3 -m venv .ci/validators && .ci/validators/bin/pip install kubernetes-validate; GOBIN=$PWD/.ci/validators/bin go install helm.sh/helm/v3/cmd/helm@v3.19.0)';

interface Container {
  readonly env: readonly { readonly name: string }[];
  readonly ports: readonly { readonly name: string }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Pod {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes: readonly Record<string, unknown>[];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Record<string, string> };
  readonly data: Record<string, string>;
  readonly spec: {
    readonly selector: { readonly matchLabels: Record<string, string> };
    readonly template: { readonly metadata: { readonly labels: Record<string, string> }; readonly spec: Pod };
    readonly jobLabel: string;
    readonly podMetricsEndpoints: readonly { readonly port: string }[];
  };
}

function run(args: readonly string[]): { status: number | null; out: string } {
  const { status, stdout, stderr } = spawnSync(helm!, args, { encoding: 'utf8' });
  return { status, out: status === 0 ? stdout : stdout + stderr };
}

/** What Helm makes of a chart, by kind. Each manifest that Kubernetes itself knows is valid for its schemas. */
function render(path: string, ...values: readonly string[]): Map<string, Manifest> {
  const { status, out } = run([
    'template',
    'x',
    path,
    '--namespace',
    'logs',
    '--kube-version',
    '1.33.0',
    ...values.flatMap((each) => ['--set', each]),
  ]);
  expect(status, out).toBe(0);
  const manifests = parseAllDocuments(out).map((document) => document.toJS() as Manifest);
  const folder = makeTree({
    'all.yaml': manifests
      .filter(({ kind }) => kind !== 'PodMonitor')
      .map((each) => `---\n${JSON.stringify(each)}\n`)
      .join(''),
  });
  const checked = spawnSync(validator, ['--strict', join(folder, 'all.yaml')], { encoding: 'utf8' });
  expect(checked.status, checked.stdout + checked.stderr).toBe(0);
  return new Map(manifests.map((manifest) => [manifest.kind, manifest]));
}

/** `check` accepts it, as a pod would mount it. */
async function expectAccepted(text: string): Promise<void> {
  const folder = makeTree({ 'tailrace.yaml': text.replace('/run/tailrace/token', 'token'), token: 'secret' });
  const env = { TAILRACE_URL: 'http://127.0.0.1:4100', NODE_NAME: 'node-1', POD_NAME: 'x-1', POD_NAMESPACE: 'logs' };
  const program = startProgram(['check', '--json', '--config', join(folder, 'tailrace.yaml')], env);
  expect(await program.exited, program.stdout()).toBe(0);
}

/** Names that the chart gives volumes of its own, as the kustomize manifests have them. */
const plain = (name: string): string => name.replace(/^tailrace-/, '');

test.skipIf(!canRun)(`chart has nothing that Helm’s lint minds, and renders what kustomize has${needed}`, async () => {
  expect(run(['lint', '--strict', chart])).toMatchObject({ status: 0 });
  const manifests = render(chart);
  expect([...manifests.keys()]).toEqual(['ConfigMap', 'DaemonSet']);
  await expectAccepted(manifests.get('ConfigMap')!.data['tailrace.yaml']!);
  const { spec } = manifests.get('DaemonSet')!.spec.template;
  const kustomize = (parse(readFileSync(join(root, 'deploy/kubernetes/daemonset/daemonset.yaml'), 'utf8')) as Manifest)
    .spec.template.spec;
  const [ours] = spec.containers;
  const [theirs] = kustomize.containers;
  expect({
    ...ours,
    env: theirs!.env.map(({ name }) => ours!.env.find((each) => each.name === name)),
    volumeMounts: ours!.volumeMounts.map((mount) => ({ ...mount, name: plain(mount.name) })),
  }).toEqual({ ...theirs, imagePullPolicy: 'IfNotPresent' });
  expect(spec).toMatchObject({
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 45,
    tolerations: [{ operator: 'Exists' }],
  });
  const state = (pod: Pod): unknown => pod.volumes.find(({ name }) => plain(String(name)) === 'state')!['hostPath'];
  expect(state(spec)).toEqual(state(kustomize));
});

test.skipIf(!canRun)(
  `chart takes a digest, another state, tolerations, limits and a monitor for the Prometheus operator${needed}`,
  () => {
    const manifests = render(
      chart,
      'state.type=emptyDir',
      'tolerations=null',
      'resources.limits.memory=256Mi',
      'podMonitor.enabled=true',
      `image.digest=sha256:${'0a'.repeat(32)}`,
      'podMonitor.labels.release=prom',
    );
    const { template } = manifests.get('DaemonSet')!.spec;
    expect(template.spec).not.toHaveProperty('tolerations');
    expect(template.spec.volumes).toContainEqual({ name: 'tailrace-state', emptyDir: {} });
    expect(template.spec.containers[0]).toMatchObject({
      image: `tailrace:0.1.0@sha256:${'0a'.repeat(32)}`,
      resources: { limits: { memory: '256Mi' } },
    });
    const kustomize = parse(
      readFileSync(join(root, 'deploy/kubernetes/daemonset/podmonitor.yaml'), 'utf8'),
    ) as Manifest;
    const daemonSet = parse(readFileSync(join(root, 'deploy/kubernetes/daemonset/daemonset.yaml'), 'utf8')) as Manifest;
    const monitors = [
      { monitor: manifests.get('PodMonitor')!, pods: template },
      { monitor: kustomize, pods: daemonSet.spec.template },
    ];
    expect(monitors[0]!.monitor.metadata.labels).toMatchObject({ release: 'prom' });
    for (const { monitor, pods } of monitors) {
      // It finds the pods, and the port that they name.
      expect(pods.metadata.labels).toMatchObject(monitor.spec.selector.matchLabels);
      expect(pods.spec.containers[0]!.ports.map(({ name }) => name)).toEqual(
        monitor.spec.podMetricsEndpoints.map(({ port }) => port),
      );
      expect(pods.metadata.labels[monitor.spec.jobLabel]).toBe('tailrace');
      expect(Object.keys(monitor.spec).sort()).toEqual(['jobLabel', 'podMetricsEndpoints', 'selector']);
    }
  },
);

test.skipIf(!canRun)(`chart gives an application’s chart a sidecar${needed}`, async () => {
  const app = makeTree({
    'Chart.yaml': 'apiVersion: v2\nname: app\nversion: 0.1.0\ndependencies: [{name: tailrace, version: 0.1.0}]\n',
    'values.yaml': `tailrace:
  daemonSet: false
  config: |
    telemetry: {listen: 0.0.0.0:9600}
    memory: small
    sources: {app: {type: file, include: [/logs/*.log]}}
    sinks: {store: {type: ingest, url: "\${TAILRACE_URL}", token_file: /run/tailrace/token, dataset: app}}
`,
  });
  mkdirSync(join(app, 'templates'));
  writeFileSync(
    join(app, 'templates/app.yaml'),
    `apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      terminationGracePeriodSeconds: 45
      securityContext: {fsGroup: 65532}
      initContainers:
        {{- include "tailrace.sidecar" (dict "root" .Subcharts.tailrace "volume" "logs" "path" "/logs") | nindent 8 }}
      containers:
        - {name: app, image: "app:latest", volumeMounts: [{name: logs, mountPath: /logs}]}
      volumes:
        {{- include "tailrace.sidecarVolumes" .Subcharts.tailrace | nindent 8 }}
        - {name: logs, emptyDir: {}}
`,
  );
  cpSync(chart, join(app, 'charts/tailrace'), { recursive: true });
  const manifests = render(app);
  expect([...manifests.keys()]).toEqual(['ConfigMap', 'Deployment']);
  await expectAccepted(manifests.get('ConfigMap')!.data['tailrace.yaml']!);
  const [, , kustomize] = [
    undefined,
    ...parseAllDocuments(readFileSync(join(root, 'deploy/kubernetes/sidecar.yaml'), 'utf8')),
  ].map((document) => document?.toJS() as Manifest);
  const ours = manifests.get('Deployment')!.spec.template.spec;
  const [sidecar] = ours.initContainers!;
  const [theirs] = kustomize!.spec.template.spec.initContainers!;
  const { env, ...same } = theirs as Container & { env: readonly unknown[] };
  const mounts = sidecar!.volumeMounts.map((mount) => ({ ...mount, name: plain(mount.name) }));
  expect({ ...sidecar, volumeMounts: mounts }).toMatchObject({
    ...same,
    // A chart's container may name more.
    env: expect.arrayContaining([...env]) as unknown,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65532,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
  });
  expect(ours.volumes.map(({ name }) => name)).toEqual(
    expect.arrayContaining(sidecar!.volumeMounts.map(({ name }) => name)),
  );
});

test.skipIf(!canRun)(`chart refuses values that it does not know${needed}`, () => {
  const refused = (value: string): string => {
    const { status, out } = run(['template', 'x', chart, '--kube-version', '1.33.0', '--set', value]);
    expect(status).not.toBe(0);
    return out;
  };
  expect(refused('state.type=nfs')).toMatch(/\/state\/type.*'hostPath', 'emptyDir'/s);
  expect(refused('tolerance=1')).toContain('tolerance');
  // Shorter than the drain.
  expect(refused('terminationGracePeriodSeconds=10')).toContain('terminationGracePeriodSeconds');
});
