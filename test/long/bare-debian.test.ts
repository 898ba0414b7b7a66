/**
 * A bare Debian 12 without Node: install the package, write the token, restart, and the machine's own logs are in the service. The base is
 * made by mmdebstrap from this machine's own sources, which takes two minutes; what an operator waits for is timed and printed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findProgram } from '../support/installed.ts';
import { API_TOKEN } from '../support/local-service.ts';
import { bootMachine, canBoot, neededToBoot } from '../support/systemd-machine.ts';
import { until } from '../support/until.ts';

const root = join(import.meta.dirname, '..', '..');
const tailrace = join(root, 'bin', 'tailrace');
const CLIENT = { TAILRACE_URL: 'http://127.0.0.1:4100', TAILRACE_TOKEN: API_TOKEN };
const canMake = canBoot && findProgram('mmdebstrap') !== undefined;
const needed = canBoot ? (canMake ? '' : ' (needs: apt-get install -y mmdebstrap)') : neededToBoot;

function must(command: string, args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}: ${stdout}${stderr}`);
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
  `on a bare Debian 12, apt install, a token and a restart bring the machine’s own logs into the service${needed}`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tailrace-bare-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const packages = join(folder, 'packages');
    must(join(root, 'scripts', 'node'), [join(root, 'scripts/package/main.ts'), '--fast', '--arch', process.arch, '--out', packages]);
    const deb = readdirSync(packages).find((name) => name.endsWith('.deb'))!;
    const base = join(folder, 'base');
    makeBase(base);

    const machine = await bootMachine(base);
    onTestFinished(() => machine.stop());
    expect(machine.run('command -v node npm python3').out).toBe('');
    expect(machine.run('dpkg -s libatomic1').status).not.toBe(0);
    const service = machine.startBeside(tailrace, ['serve', '--listen', '127.0.0.1:4100', '--data', join(folder, 'service'), '--json'], {
      TAILRACE_API_TOKEN: API_TOKEN,
    });
    onTestFinished(() => new Promise<void>((resolve) => void service.once('exit', () => resolve()).kill('SIGTERM')));
    await new Promise((resolve) => service.stdout!.once('data', resolve));
    const stored = (): number => {
      const query = `hosts | where file == '/var/log/dpkg.log' and message contains 'status installed tailrace' | count`;
      const { status, out } = machine.runBeside(tailrace, ['query', query, '-o', 'csv'], CLIENT);
      return status === 0 ? Number(/^\d+$/m.exec(out)?.[0] ?? 0) : 0;
    };

    // From here on as docs/install.md says.
    const startedMs = performance.now();
    machine.copyIn(join(packages, deb), `/srv/${deb}`);
    machine.must(`cd /srv && apt-get install -y ./${deb}`);
    machine.must(`install -m 600 /dev/stdin /etc/tailrace/token <<'END'\n${API_TOKEN}\nEND`);
    machine.must('systemctl restart tailrace');
    await until('the machine’s own log is in the service', () => stored() > 0, 120_000, 100);
    console.log(`from the package to the first events: ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
    expect(machine.must('systemctl show -p StatusText --value tailrace')).toMatch(/store delivers/);
  },
  900_000,
);
