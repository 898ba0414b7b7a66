/**
 * Runs a program and measures it exactly: CPU from the kernel's own accounting of the ended process (`times` of the
 * shell that waited for it: user + system of the whole process, all its threads), peak memory from VmHWM and RssAnon.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import type { Readable } from 'node:stream';

export interface Measured {
  /** Exit code; 128 + signal when it was ended by one. */
  readonly code: number;
  readonly cpuSeconds: number;
  readonly userSeconds: number;
  readonly systemSeconds: number;
  /** Largest resident memory seen, bytes. Read every 20 ms, so what the last 20 ms added is not in it. */
  readonly peakRssBytes: number;
  /** Largest private memory seen (RssAnon), bytes: what this process alone has, without pages of files that others share. */
  readonly peakPrivateBytes: number;
  readonly startedMs: number;
  readonly wallSeconds: number;
  /** The end of what it wrote, for the message when it fails. */
  readonly output: string;
}

export interface Running {
  readonly pid: number;
  readonly done: Promise<Measured>;
  /** The end of what it has written so far. */
  output(): string;
  /** False once it has ended. */
  isRunning(): boolean;
  terminate(): void;
}

const POLL_MS = 20;
const KEPT_OUTPUT = 4000;
/** bash gives milliseconds, a plain POSIX shell hundredths of a second. */
const SHELL = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';
const SCRIPT = '"$@" & echo "$!" >&3; wait "$!"; status=$?; times >&3; exit "$status"';

/**
 * Starts `argv`; its environment has no proxy and none of Tailrace's variables. `ownSession`: in a session of its own, as service
 * managers start it; Linux shares processors among sessions first (autogroup).
 */
export async function startMeasured(argv: readonly string[], { ownSession = false } = {}): Promise<Running> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/_proxy$|^TAILRACE_/i.test(name)));
  const startedMs = Date.now();
  const child = spawn(SHELL, ['-c', SCRIPT, SHELL, ...argv], {
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: ownSession,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-KEPT_OUTPUT)));
  }
  const report = (child.stdio[3] as Readable).setEncoding('utf8');
  let said = '';
  report.on('data', (text: string) => (said += text));
  const closed = once(child, 'close');
  await once(report, 'data');
  const pid = Number.parseInt(said, 10);

  let [peakRssBytes, peakPrivateBytes] = [0, 0];
  const poll = setInterval(() => {
    peakRssBytes = Math.max(peakRssBytes, readStatusBytes(pid, 'VmHWM'));
    peakPrivateBytes = Math.max(peakPrivateBytes, readStatusBytes(pid, 'RssAnon'));
  }, POLL_MS);
  const done = closed.then(([code]): Measured => {
    clearInterval(poll);
    const [userSeconds = NaN, systemSeconds = NaN] = parseChildTimes(said);
    const wallSeconds = (Date.now() - startedMs) / 1000;
    return {
      code: code as number,
      cpuSeconds: userSeconds + systemSeconds,
      userSeconds,
      systemSeconds,
      peakRssBytes,
      peakPrivateBytes,
      startedMs,
      wallSeconds,
      output,
    };
  });
  return {
    pid,
    done,
    output: () => output,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    terminate() {
      if (child.exitCode === null && child.signalCode === null) process.kill(pid, 'SIGTERM');
    },
  };
}

/** `90 MB, 41 private`. */
export const memoryText = ({
  peakRssBytes,
  peakPrivateBytes,
}: Pick<Measured, 'peakRssBytes' | 'peakPrivateBytes'>): string =>
  `${(peakRssBytes / 1e6).toFixed(0)} MB, ${(peakPrivateBytes / 1e6).toFixed(0)} private`;

/** User and system seconds of the ended children: the second line of what `times` prints, as `0m1.234s 0m0.567s`. */
function parseChildTimes(said: string): number[] {
  const last = said.trim().split('\n').at(-1) ?? '';
  return [...last.matchAll(/(\d+)m([\d.]+)s/g)].map(([, minutes, seconds]) => Number(minutes) * 60 + Number(seconds));
}

/** One of the memory lines of `/proc/PID/status`, in bytes; 0 once the process is gone. */
export function readStatusBytes(pid: number, name: 'VmHWM' | 'VmRSS' | 'RssAnon'): number {
  try {
    const line = new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
    return Number(line?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** CPU seconds that the living threads of a process have used so far, to the nanosecond. */
export function readCpuSeconds(pid: number): number {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    nanoseconds += Number.parseInt(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1'), 10);
  }
  return nanoseconds / 1e9;
}
