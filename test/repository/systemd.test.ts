import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTree } from '../support/temp-tree.ts';

const unit = readFileSync(join(import.meta.dirname, '../../systemd/tailrace.service'), 'utf8');
const installed = spawnSync('systemd-analyze', ['--version']).status === 0;
const needed = installed ? '' : ' (needs: apt-get install -y systemd)';

/** Verifies the unit with a program that exists here; what systemd says about it. */
function verify(text: string): { status: number | null; said: string } {
  const root = makeTree({ 'tailrace.service': text.replace('/usr/bin/tailrace', '/bin/true') });
  const result = spawnSync('systemd-analyze', ['verify', join(root, 'tailrace.service')], { encoding: 'utf8' });
  return { status: result.status, said: result.stdout + result.stderr };
}

test.skipIf(!installed)(`systemd unit verifies without a word${needed}`, () => {
  expect(verify(unit)).toEqual({ status: 0, said: '' });
});

test.skipIf(!installed)(`systemd verify sees a key that does not exist${needed}`, () => {
  expect(verify(unit.replace('ProtectSystem=', 'ProtectSistem=')).said).toContain('ProtectSistem');
});

test('systemd unit lets a drain finish and does not forbid what V8 needs', () => {
  expect(Number(/^TimeoutStopSec=(\d+)s$/m.exec(unit)?.[1])).toBeGreaterThan(30);
  expect(unit).not.toMatch(/^MemoryDenyWriteExecute=/m);
});
