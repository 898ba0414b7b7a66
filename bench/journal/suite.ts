/**
 * A journal in, HTTP out: the agent and rsyslog's imjournal read the same one, which systemd-journal-remote made, in turns. CPU is of the
 * process itself and, of the agent, of its child beside it. Then how long an entry takes from its write to the answer that says it is stored.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { launcher } from '../agent.ts';
import { memoryText, readCpuSeconds, type Running, startMeasured } from '../measure.ts';
import type { Options } from '../options.ts';
import { median } from '../run.ts';
import { startSink } from '../sink.ts';
import { say } from '../suite.ts';
import { BULK_LINES, RSYSLOG, rsyslogCommand } from '../syslog/programs.ts';
import { startTextSink } from '../text-sink.ts';

const REMOTE = '/lib/systemd/systemd-journal-remote';
const MACHINE = '/etc/machine-id';
/** Written at a steady pace, so many at a time. */
const PACE_MS = 10;
const ENTRIES_A_PACE = 10;
const WARM_UP_MS = 3000;
const DEADLINE_MS = 600_000;

export interface JournalRow {
  readonly program: string;
  readonly cpuSecondsPerMillion: number;
  /** Of the agent's journalctl. */
  readonly childSecondsPerMillion: number | undefined;
  readonly entriesPerSecond: number;
  readonly peakRssBytes: number;
  readonly peakPrivateBytes: number;
}

export interface JournalFigures {
  readonly rows: readonly JournalRow[];
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly load: number;
}

export function wantsJournal({ only }: Options): boolean {
  return only.length === 0 || only.some((part) => 'journal'.includes(part));
}

/** Undefined where systemd-journal-remote is not installed. */
export async function measureJournal(
  options: Options,
  agent: string,
  folder: string,
): Promise<JournalFigures | undefined> {
  if (!existsSync(REMOTE)) return undefined;
  const load = loadavg()[0]!;
  const count = options.quick ? 100_000 : 1_000_000;
  const journals = join(folder, 'journals');
  say(`making a journal of ${count} entries`);
  writeJournal(join(journals, readMachine()), count);
  const rows = new Map<string, JournalRow[]>();
  const programs = [
    { name: 'tailrace', lines: 1, prepare: agentCommand(agent, journals) },
    ...(existsSync(join(RSYSLOG, 'rsyslogd'))
      ? [{ name: 'rsyslog 8.2302, imjournal', lines: BULK_LINES, prepare: imjournal(journals) }]
      : []),
  ];
  for (let run = 1; run <= options.runs; run++) {
    for (const { name, lines, prepare } of programs) {
      const row = await pass(name, prepare, lines, count, join(folder, 'journal'));
      rows.set(name, [...(rows.get(name) ?? []), row]);
      const child =
        row.childSecondsPerMillion === undefined ? '' : `, its child ${row.childSecondsPerMillion.toFixed(2)}`;
      say(`journal, ${name} ${run}/${options.runs}: ${row.cpuSecondsPerMillion.toFixed(2)} CPU-s a million${child}`);
    }
  }
  const latencies = await measureLatencies(agent, folder, options.latencySeconds);
  const of = (all: readonly JournalRow[], key: Exclude<keyof JournalRow, 'program'>): number =>
    median(all.map((row) => row[key] ?? 0));
  return {
    rows: [...rows.values()].map((all) => ({
      program: all[0]!.program,
      cpuSecondsPerMillion: of(all, 'cpuSecondsPerMillion'),
      childSecondsPerMillion: all[0]!.childSecondsPerMillion && of(all, 'childSecondsPerMillion'),
      entriesPerSecond: of(all, 'entriesPerSecond'),
      peakRssBytes: of(all, 'peakRssBytes'),
      peakPrivateBytes: of(all, 'peakPrivateBytes'),
    })),
    p50Ms: latencies[Math.floor(latencies.length / 2)]!,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)]!,
    load,
  };
}

/** An entry as a service of a usual machine makes it. */
function entryOf(n: number, us: bigint, text: string): string {
  const fields = {
    __REALTIME_TIMESTAMP: us,
    __MONOTONIC_TIMESTAMP: 1_000_000 + n,
    _BOOT_ID: '0123456789abcdef'.repeat(2),
    _MACHINE_ID: readMachine(),
    _HOSTNAME: 'web-1',
    _TRANSPORT: 'syslog',
    PRIORITY: 6,
    SYSLOG_FACILITY: 3,
    SYSLOG_IDENTIFIER: 'sshd',
    _PID: 800 + (n % 100),
    _UID: 0,
    _COMM: 'sshd',
    _EXE: '/usr/sbin/sshd',
    _CMDLINE: 'sshd: /usr/sbin/sshd -D [listener] 0 of 10-100 startups',
    _SYSTEMD_UNIT: 'ssh.service',
    _SYSTEMD_SLICE: 'system.slice',
    MESSAGE: text,
  };
  return `${Object.entries(fields)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')}\n`;
}

let machineId: string | undefined;
const readMachine = (): string => (machineId ??= readFileSync(MACHINE, 'utf8').trim());

function writeJournal(folder: string, count: number): void {
  mkdirSync(folder, { recursive: true });
  const firstUs = BigInt(Date.now() - 3_600_000) * 1000n;
  const PART = 50_000;
  for (let from = 0; from < count; from += PART) {
    const entries = Array.from({ length: Math.min(PART, count - from) }, (_, n) =>
      entryOf(
        from + n,
        firstUs + BigInt(from + n),
        `Accepted publickey for ada from 192.0.2.7 port ${from + n} ssh2: ED25519 SHA256:4711`,
      ),
    );
    const { status, stderr } = spawnSync(REMOTE, ['-o', join(folder, 'system.journal'), '-'], {
      input: entries.join(''),
    });
    if (status !== 0) throw new Error(`systemd-journal-remote: ${String(stderr)}`);
  }
}

type Prepare = (folder: string, sinkPort: number) => readonly string[];

function agentCommand(program: string, journals: string): Prepare {
  return (folder, sinkPort) => {
    const file = join(folder, 'tailrace.yaml');
    writeFileSync(
      file,
      `data_dir: ${join(folder, 'data')}
sources:
  journal: {type: journald, directory: ${journals}, since: all}
sinks:
  store: {type: ingest, url: "http://127.0.0.1:${sinkPort}", token: bench, org_id: bench, dataset: bench, compression: none}
telemetry: {listen: "127.0.0.1:0", log_level: warn}
`,
    );
    return [...launcher(), program, 'run', '--config', file];
  };
}

/** It reads the machine's journal alone: in a mount namespace of its own that is this one. */
function imjournal(journals: string): Prepare {
  return (folder, sinkPort) => {
    const input = `module(load="imjournal" StateFile="${join(folder, 'imjournal.state')}" Ratelimit.Interval="0" IgnorePreviousMessages="off")`;
    const command = rsyslogCommand(folder, sinkPort, `${input}\ncall ship`);
    return [
      'unshare',
      '--mount',
      'sh',
      '-c',
      'mount --bind "$1" /var/log/journal && shift && exec "$@"',
      'sh',
      journals,
      ...command,
    ];
  };
}

async function pass(
  program: string,
  prepare: Prepare,
  linesAnEntry: number,
  count: number,
  folder: string,
): Promise<JournalRow> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const sink = await startSink();
  try {
    const startedMs = Date.now();
    const running = await startMeasured(prepare(folder, sink.port));
    let counts = await sink.counts();
    for (; counts.events < count * linesAnEntry; counts = await sink.counts()) {
      if (Date.now() - startedMs > DEADLINE_MS || !running.isRunning())
        throw new Error(
          `journal, ${program}: ${counts.events / linesAnEntry} of ${count} entries arrived; it said: ${running.output()}`,
        );
      await sleep(50);
    }
    const [own, child] = [readCpuSeconds(running.pid), childSeconds(running)];
    running.terminate();
    const { peakRssBytes, peakPrivateBytes } = await running.done;
    return {
      program,
      cpuSecondsPerMillion: (own / count) * 1e6,
      childSecondsPerMillion: child && (child / count) * 1e6,
      entriesPerSecond: count / ((counts.lastAnswerMs - startedMs) / 1000),
      peakRssBytes,
      peakPrivateBytes,
    };
  } finally {
    await sink.stop();
  }
}

/** Of the one child that it has, if it has one. */
function childSeconds({ pid }: Running): number | undefined {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1')
      .split(' ')
      .filter((each) => each !== ''),
  );
  return children.length === 0 ? undefined : readCpuSeconds(Number(children[0]));
}

/** Milliseconds, ascending. Entries bear the time of their write. */
async function measureLatencies(agent: string, folder: string, seconds: number): Promise<number[]> {
  say(`journal: ${seconds} s at ${(1000 * ENTRIES_A_PACE) / PACE_MS} entries a second`);
  const own = join(folder, 'journal-latency');
  const journals = join(own, 'journals');
  mkdirSync(journals, { recursive: true });
  const latencies: number[] = [];
  const sink = await startTextSink((text) => {
    const stamps = [...text.matchAll(/"at=(\d+) /g)];
    for (const [, stamp] of stamps) latencies.push(Date.now() - Number(stamp));
    return stamps.length;
  });
  const writer = spawn(REMOTE, ['-o', join(journals, 'system.journal'), '-'], { stdio: ['pipe', 'ignore', 'inherit'] });
  let written = 0;
  const startedMs = Date.now();
  const timer = setInterval(() => {
    const now = Date.now();
    // A timer that is late catches up.
    const due = ((now - startedMs) / PACE_MS) * ENTRIES_A_PACE;
    const entries = Array.from({ length: Math.max(0, Math.floor(due) - written) }, (_, n) =>
      entryOf(written + n, BigInt(now) * 1000n + BigInt(n), `at=${now} accepted`),
    );
    written += entries.length;
    writer.stdin.write(entries.join(''));
  }, PACE_MS);
  const running = await startMeasured(agentCommand(agent, journals)(own, sink.port));
  try {
    await sleep(WARM_UP_MS);
    const before = latencies.length;
    await sleep(seconds * 1000);
    return latencies.slice(before).toSorted((a, b) => a - b);
  } finally {
    clearInterval(timer);
    writer.stdin.end();
    running.terminate();
    await running.done;
    await sink.stop();
  }
}

const MOST_CPU_SECONDS = 3;
const MOST_P50_MS = 400;

export function renderJournal({ rows, p50Ms, p99Ms, load }: JournalFigures): string {
  const cells = rows.map((row) => [
    row.program,
    row.cpuSecondsPerMillion.toFixed(2),
    row.childSecondsPerMillion?.toFixed(2) ?? '',
    `${Math.round(row.entriesPerSecond / 1000)} k`,
    memoryText(row),
  ]);
  const head = ['program', 'CPU-s a million entries', "its journalctl's", 'entries/s', 'peak RSS and private'];
  const [own] = rows;
  const verdict = (isMet: boolean): string => (isMet ? 'met' : '**missed**');
  return [
    ...[head, head.map(() => '---'), ...cells].map((line) => `| ${line.join(' | ')} |`),
    '',
    `Target ≤ ${MOST_CPU_SECONDS} CPU-s a million of its own: ${verdict(own!.cpuSecondsPerMillion <= MOST_CPU_SECONDS)}. At a load of ${load.toFixed(1)}.`,
    '',
    `From an entry's write to the answer that it is stored, at 1,000 a second: p50 ${p50Ms} ms (target ≤ ${MOST_P50_MS} ms: ${verdict(p50Ms <= MOST_P50_MS)}), p99 ${p99Ms} ms.`,
  ].join('\n');
}
