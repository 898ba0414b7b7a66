/**
 * A booted Debian for tests: a real systemd in a container whose root is a throw-away overlay of this machine's, with a network
 * of its own. Needs root and systemd-nspawn; `canBoot` tells.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { findProgram } from './installed.ts';
import { until } from './until.ts';

export const canBoot =
  process.getuid?.() === 0 && findProgram('systemd-nspawn') !== undefined && findProgram('nsenter') !== undefined;
/** Behind the name of a suite that is skipped without it. */
export const neededToBoot = canBoot ? '' : ' (needs root, and: apt-get install -y systemd-container)';

export interface Ran {
  readonly status: number;
  readonly out: string;
}

export interface Machine {
  /** Runs a command in the machine to its end; its output and errors together. */
  run(command: string): Ran;
  /** The same; throws when it fails. */
  must(command: string): string;
  /** Copies a file of this machine into the other one, which has a /tmp of its own. */
  copyIn(file: string, target: string): void;
  /** Starts a program of this machine in the network of the other one. */
  startBeside(program: string, args: readonly string[], env?: NodeJS.ProcessEnv): ChildProcess;
  /** The same, to its end. */
  runBeside(program: string, args: readonly string[], env?: NodeJS.ProcessEnv): Ran;
  stop(): Promise<void>;
}

/** Boots it, or what another folder has; resolves once systemd takes jobs. */
export async function bootMachine(base = '/'): Promise<Machine> {
  const root = mkdtempSync(join(tmpdir(), 'tailrace-machine-'));
  const boot = `mount --bind ${base} ${root} && exec systemd-nspawn -q -D ${root} --volatile=overlay -M ${basename(root)} --register=no --keep-unit --private-network --boot systemd.unit=basic.target`;
  const child = spawn('unshare', ['-m', '--propagation', 'private', 'sh', '-c', boot], { stdio: 'ignore' });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let leader = '';
  const inside = (namespaces: string[], command: string[], env?: NodeJS.ProcessEnv) =>
    spawnSync('nsenter', ['-t', leader, ...namespaces, ...command], { encoding: 'utf8', ...(env ? { env } : {}) });
  const all = ['-m', '-u', '-i', '-n', '-p', '-C'];
  const run = (command: string): Ran => {
    const { status, stdout, stderr } = inside(all, ['sh', '-c', command]);
    return { status: status ?? -1, out: stdout + stderr };
  };
  await until('the container’s init', () => (leader = childOf(child.pid!)) !== '');
  await until('systemd in the container', () => run('systemctl is-active basic.target').out.trim() === 'active', {
    withinMs: 300_000,
    everyMs: 100,
  });
  return {
    run,
    must(command) {
      const { status, out } = run(command);
      if (status !== 0) throw new Error(`${command} ended with ${status}: ${out}`);
      return out;
    },
    copyIn(file, target) {
      const command = ['nsenter', '-t', leader, ...all, 'sh', '-c', `cat >'${target}'`];
      const { status, stderr } = spawnSync(command[0]!, command.slice(1), { input: readFileSync(file) });
      if (status !== 0) throw new Error(`${file} could not be copied: ${String(stderr)}`);
    },
    startBeside: (program, args, env) =>
      spawn('nsenter', ['-t', leader, '-n', program, ...args], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, ...env },
      }),
    runBeside(program, args, env) {
      const { status, stdout, stderr } = inside(['-n'], [program, ...args], { ...process.env, ...env });
      return { status: status ?? -1, out: stdout + stderr };
    },
    async stop() {
      child.kill('SIGTERM');
      // systemd-nspawn powers the machine off at the first signal; a machine that does not obey is ended.
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await exited;
      clearTimeout(timer);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** The init of the container, a child of systemd-nspawn; empty before it runs. */
function childOf(pid: number): string {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    // Before it is systemd-nspawn, the process mounts; before it is systemd, the child sets the container up.
    return children.find((child) => child !== '' && readFileSync(`/proc/${child}/comm`, 'utf8') === 'systemd\n') ?? '';
  } catch {
    return '';
  }
}
