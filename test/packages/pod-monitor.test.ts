/** The PodMonitors of the chart and of kustomize, held against the schema of the Prometheus operator's CRD. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { findProgram } from '../support/installed.ts';

const root = join(import.meta.dirname, '..', '..');
const validators = join(root, '.ci/validators');
const helm = existsSync(join(validators, 'bin/helm')) ? join(validators, 'bin/helm') : findProgram('helm');
// Its schemas are generated from the operator's CRDs.
const models = join(
  validators,
  'node_modules/@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor.js',
);
const hasModels = existsSync(models);
const needed = (program: boolean): string =>
  program && hasModels
    ? ''
    : ' (needs what .ci/run puts into .ci/validators: helm, @kubernetes-models/prometheus-operator)';

interface PodMonitor {
  readonly spec: { readonly podMetricsEndpoints: readonly Record<string, unknown>[]; readonly selector?: unknown };
}

/** What the schema says is wrong; empty for a valid one. It lets unknown keys pass, as Kubernetes does, which drops them. */
async function complaintOf(monitor: unknown): Promise<string> {
  const { PodMonitor } = (await import(models)) as { PodMonitor: new (data: unknown) => { validate(): void } };
  try {
    new PodMonitor(monitor).validate();
    return '';
  } catch (error) {
    return String(error);
  }
}

async function expectValid(text: string): Promise<void> {
  const monitors = parseAllDocuments(text).map((document) => document.toJS() as PodMonitor & { kind: string });
  const found = monitors.filter(({ kind }) => kind === 'PodMonitor');
  expect(found).toHaveLength(1);
  const [monitor] = found;
  expect(await complaintOf(monitor)).toBe('');
  expect(Object.keys(monitor!.spec).sort()).toEqual(['jobLabel', 'podMetricsEndpoints', 'selector']);
  expect(monitor!.spec.podMetricsEndpoints.map((endpoint) => Object.keys(endpoint).sort())).toEqual([
    ['interval', 'path', 'port'],
  ]);
  // The schema checks the fields that exist.
  const { selector: _, ...rest } = monitor!.spec;
  expect(await complaintOf({ ...monitor, spec: rest })).toContain('selector');
  const often = monitor!.spec.podMetricsEndpoints.map((endpoint) => ({ ...endpoint, interval: 'often' }));
  expect(await complaintOf({ ...monitor, spec: { ...monitor!.spec, podMetricsEndpoints: often } })).toContain(
    'interval',
  );
}

test.skipIf(!hasModels)(`PodMonitor of kustomize fits the operator’s schema${needed(true)}`, async () => {
  await expectValid(readFileSync(join(root, 'deploy/kubernetes/daemonset/podmonitor.yaml'), 'utf8'));
});

test.skipIf(!hasModels || helm === undefined)(
  `PodMonitor of the chart fits the operator’s schema${needed(helm !== undefined)}`,
  async () => {
    const args = [
      'template',
      'x',
      '--kube-version',
      '1.33.0',
      join(root, 'deploy/helm/tailrace'),
      '--set',
      'podMonitor.enabled=true,podMonitor.labels.release=prom',
    ];
    const { status, stdout, stderr } = spawnSync(helm!, args, { encoding: 'utf8' });
    expect(status, stderr).toBe(0);
    await expectValid(stdout);
  },
);
