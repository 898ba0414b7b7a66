/** The front page: short, with a proof that is real, and a configuration that ships. */
import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { tailraceFor } from '../cli/tailrace.ts';
import { addressOf, test } from '../support/shipping.ts';
import { startProgram } from '../support/program.ts';
import { until } from '../support/until.ts';

const page = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
const [, intro = '', proof = ''] = /^# Tailrace\n\n(.*?)\n\n```text\n\$ tailrace audit\n(.*?)^```/ms.exec(page) ?? [];
const [, yaml = ''] = /^```yaml\n(.*?)^```/ms.exec(page) ?? [];

/** The audit without what differs from run to run. */
function shapeOf(audit: string): string {
  return audit
    .replace(/stream [0-9a-f]{32}/g, 'stream ID')
    .replace(/[\d.,]+ (?:B|KiB|MiB)\b/g, 'SIZE')
    .replace(/\d[\d,]*/g, 'N');
}

test('README is short: two sentences, the proof of delivery on its first screen, at most 60 lines in all', () => {
  expect(intro.match(/\.(?:\s|$)/g)).toHaveLength(2);
  expect(page.slice(0, page.indexOf(proof) + proof.length).split('\n').length).toBeLessThanOrEqual(24);
  expect(page.split('\n').length).toBeLessThanOrEqual(61);
});

test('README’s configuration ships, and `audit` prints what README shows', async ({ site: { folder, service } }) => {
  const logs = join(folder, 'app');
  mkdirSync(logs);
  const log = join(logs, 'web.log');
  writeFileSync(log, 'one\ntwo\n');
  const ours = yaml.replace('/var/log/*.log', `${logs}/*.log`).replace('http://127.0.0.1:4100', service.url);
  // The unfinished line is to be there still when a slow machine gets to the audit.
  const config = ours.replace('{type: file,', '{type: file, partial_timeout: 1h, scan_interval: 100ms,');
  writeFileSync(join(folder, 'tailrace.yaml'), `data_dir: data\n${config}telemetry: {listen: "127.0.0.1:0"}\n`, {
    mode: 0o600,
  });
  const agent = startProgram(['run', '--config', join(folder, 'tailrace.yaml')], { TAILRACE_TOKEN: 'token' });
  await addressOf(agent);
  await until('the first file is stored', () => service.stored.length === 2);
  renameSync(log, `${log}.1`);
  writeFileSync(log, 'three\n');
  await until('the second file is stored', () => service.stored.length === 3);
  appendFileSync(log, 'unfinished');
  const tailrace = tailraceFor({ TAILRACE_TOKEN: 'token' });
  let shown = '';
  await until('all but the unfinished line is settled', async () => {
    shown = (await tailrace(['audit', '--config', join(folder, 'tailrace.yaml')])).stdout;
    return / 14 B settled, 0 B in hand, 10 B unread/.test(shown);
  });
  expect(shapeOf(shown.replaceAll(folder, '/var/log'))).toBe(shapeOf(proof));
  expect(await agent.end('SIGTERM')).toBe(0);
});
