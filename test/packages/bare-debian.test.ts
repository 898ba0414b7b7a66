/**
 * A bare Debian 12 without Node, and somebody who has only docs/install.md: the lines of its part `From the package to your first events` are typed
 * as they are, and the machine's own logs are in the service. The base is made by mmdebstrap from this machine's own sources; what an operator waits for is
 * timed and printed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findProgram } from '../support/installed.ts';
import { API_TOKEN } from '../support/local-service.ts';
import { sharedPackages } from '../support/packages.ts';
import { bootMachine, canBoot, neededToBoot } from '../support/systemd-machine.ts';
import { until } from '../support/until.ts';
import { SERVICE, storedEvents } from './stored.ts';

const root = join(import.meta.dirname, '..', '..');
const tailrace = join(root, 'bin', 'tailrace');
const canMake = canBoot && findProgram('mmdebstrap') !== undefined;
/** Only a machine that hangs reaches it: packing alone takes minutes beside busy programs. */
const DEADLINE_MS = 600_000;
const needed = canBoot ? (canMake ? '' : ' (needs: apt-get install -y mmdebstrap)') : neededToBoot;

function must(command: string, args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}: ${stdout}${stderr}`);
}

/** Its commands, without their comments. */
function commandsOfPage(): string[] {
  const [, block = ''] =
    /^## From the package\b.*?^```text\n(.*?)^```$/ms.exec(readFileSync(join(root, 'docs/install.md'), 'utf8')) ?? [];
  return block
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/ +#.*/, ''));
}

/** Debian's smallest with systemd and apt. The libraries that the package depends on are not installed: apt has them at hand, as from a mirror. */
function makeBase(folder: string): void {
  const sources = ['/etc/apt/sources.list', '/etc/apt/sources.list.d/debian.sources'].find(existsSync)!;
  const hook = 'chroot "$1" apt-get install -y -qq --download-only libatomic1';
  must('mmdebstrap', [
    ...['--variant=minbase', '--include=systemd-sysv', '--skip=cleanup/apt', `--customize-hook=${hook}`],
    ...['bookworm', folder, sources],
  ]);
}

test.skipIf(!canMake)(
  `on a bare Debian 12, the lines of docs/install.md bring the machine’s own logs into the service${needed}`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tailrace-bare-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const packages = await sharedPackages();
    const deb = basename(packages.deb);
    const base = join(folder, 'base');
    makeBase(base);

    const machine = await bootMachine(base);
    onTestFinished(() => machine.stop());
    expect(machine.run('command -v node npm python3').out).toBe('');
    expect(machine.run('dpkg -s libatomic1').status).not.toBe(0);
    const service = machine.startBeside(
      tailrace,
      ['serve', '--listen', SERVICE, '--data', join(folder, 'service'), '--json'],
      {
        TAILRACE_API_TOKEN: API_TOKEN,
      },
    );
    onTestFinished(() => new Promise<void>((resolve) => void service.once('exit', () => resolve()).kill('SIGTERM')));
    await new Promise((resolve) => service.stdout!.once('data', resolve));
    const stored = (condition: string): number => storedEvents(machine, condition);

    const [install, edit, token, restart, status, ...more] = commandsOfPage();
    expect([install, edit, more]).toEqual([`apt install ./${deb}`, 'editor /etc/tailrace/tailrace.yaml', []]);
    machine.copyIn(packages.deb, `/srv/${deb}`);
    const startedMs = performance.now();
    machine.must(`cd /srv && yes | ${install}`);
    // What an editor would show: the one line to change, which names the service of this test already.
    expect(machine.must('grep -n "url:" /etc/tailrace/tailrace.yaml')).toMatch(
      /^\d+: +url: http:\/\/127\.0\.0\.1:4100 +# your service$/m,
    );
    machine.must(`${token} <<'END'\n${API_TOKEN}\nEND`);
    machine.must(restart!);
    const ofPackages = `file == '/var/log/dpkg.log' and message contains 'status installed tailrace'`;
    await until('the machine’s own log is in the service', () => stored(ofPackages) > 0, {
      withinMs: DEADLINE_MS,
      everyMs: 100,
    });
    console.log(`from the package to the first events: ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
    await until(
      'the machine’s journal is in the service',
      () => stored(`unit == 'init.scope' and severity == 'info'`) > 0,
      {
        withinMs: DEADLINE_MS,
        everyMs: 100,
      },
    );
    console.log(`and to the journal: ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
    await until('the status line', () => /store delivers/.test(machine.must(`${status} --no-pager`)), {
      withinMs: DEADLINE_MS,
      everyMs: 250,
    });
  },
  3 * DEADLINE_MS,
);
