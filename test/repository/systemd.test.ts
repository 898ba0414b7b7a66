import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTree } from '../support/temp-tree.ts';

const units = join(import.meta.dirname, '../../systemd');
const unit = readFileSync(join(units, 'tailrace.service'), 'utf8');
const installed = spawnSync('systemd-analyze', ['--version']).status === 0;
const needed = installed ? '' : ' (needs: apt-get install -y systemd)';

/** Verifies the unit with a program that exists here; what systemd says about it. */
function verify(text: string): { status: number | null; said: string } {
  const root = makeTree({
    'tailrace.service': text.replaceAll('/usr/bin/tailrace', '/bin/true').replace(/^Documentation=.*\n/m, ''),
  });
  const result = spawnSync('systemd-analyze', ['verify', join(root, 'tailrace.service')], { encoding: 'utf8' });
  return { status: result.status, said: result.stdout + result.stderr };
}

test.skipIf(!installed)(`systemd unit verifies without a word${needed}`, () => {
  expect(verify(unit)).toEqual({ status: 0, said: '' });
});

test.skipIf(!installed)(`systemd verify sees a key that does not exist${needed}`, () => {
  expect(verify(unit.replace('ProtectSystem=', 'ProtectSistem=')).said).toContain('ProtectSistem');
});

test('systemd unit gives the agent a state directory of its own, which no other user sees', () => {
  expect(unit).toMatch(/^ExecStart=\S+\/tailrace run --config \/etc\/tailrace\/tailrace\.yaml$/m);
  expect(unit).toMatch(/^StateDirectory=tailrace$/m);
  expect(unit).toMatch(/^StateDirectoryMode=0700$/m);
});

// Symptom: after `systemctl restart tailrace && systemctl reload tailrace` no agent ran, and nothing showed it. Cause: until the program
// listens for signals SIGHUP ends it, and systemd takes that for a clean end, which `Restart=on-failure` leaves alone. Fix: such an end is
// always restarted.
test('systemd unit starts the agent again that a reload met while it was starting', () => {
  expect(unit).toMatch(/^ExecReload=\/usr\/bin\/tailrace reload --config \S+$/m);
  expect(unit).toMatch(/^Restart=(always|on-failure\n(.+\n)*RestartForceExitStatus=SIGHUP)$/m);
});

test('systemd unit goes on when memory runs out in the process of a script', () => {
  expect(unit).toMatch(/^OOMPolicy=continue$/m);
});

test('systemd unit lets a drain finish and does not forbid what V8 needs', () => {
  expect(Number(/^TimeoutStopSec=(\d+)s$/m.exec(unit)?.[1])).toBeGreaterThan(30);
  expect(unit).not.toMatch(/^MemoryDenyWriteExecute=/m);
});

test.skipIf(!installed)(`systemd unit exposes no more than the sandbox allows${needed}`, () => {
  const root = makeTree({ 'tailrace.service': unit });
  const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', join(root, 'tailrace.service')], {
    encoding: 'utf8',
  });
  expect(Number(/exposure level for \S+ (\d+\.\d+)/.exec(stdout)?.[1])).toBeLessThanOrEqual(1.3);
});

test('systemd template differs from the unit in its names only', () => {
  const template = readFileSync(join(units, 'tailrace@.service'), 'utf8');
  const directives = (text: string): string =>
    text
      .split('\n')
      .filter((line) => /^[A-Z[]/.test(line))
      .join('\n');
  const named = directives(template)
    .replace(' (%i)', '')
    .replaceAll('/etc/tailrace/%i.yaml', '/etc/tailrace/tailrace.yaml')
    .replace('/etc/tailrace/%i.token', '/etc/tailrace/token')
    .replaceAll('Directory=tailrace/%i', 'Directory=tailrace');
  expect(named).toBe(directives(unit));
});
