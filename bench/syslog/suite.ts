/**
 * Syslog in, HTTP out, by the agent and by others in one run: `loggen` sends the same messages to each, over TCP as fast as they are taken
 * and over UDP at a fixed rate. CPU is what the process used from when it listened until everything had arrived.
 */
import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startMeasured } from '../measure.ts';
import type { Options } from '../options.ts';
import { median } from '../run.ts';
import { startSink } from '../sink.ts';
import { say } from '../suite.ts';
import { findSyslogPrograms, type SyslogProgram, type Transport } from './programs.ts';
import { freePort } from '../machine.ts';

const execute = promisify(execFile);
const MESSAGE_BYTES = 256;
export const UDP_RATE = 80_000;
/** What arrives later than this after the one before it is taken for lost. */
const QUIET_MS = 3000;
const READY_MS = 30_000;
const TICKS_A_SECOND = 100;

export interface SyslogRow {
  readonly program: string;
  readonly transport: Transport;
  readonly sent: number;
  readonly lost: number;
  readonly cpuSecondsPerMillion: number;
  readonly peakRssBytes: number;
  readonly peakPrivateBytes: number;
  /** Messages a second while they arrived. */
  readonly rate: number;
}

const TRANSPORTS: readonly Transport[] = ['tcp', 'udp'];

function wantedTransports({ only }: Options): readonly Transport[] {
  return TRANSPORTS.filter(
    (transport) => only.length === 0 || only.some((part) => `syslog/${transport}`.includes(part)),
  );
}

export function wantsSyslog(options: Options): boolean {
  return wantedTransports(options).length > 0;
}

/** Each program's median over the runs, which take turns. */
export async function measureSyslog(options: Options, agent: string, folder: string): Promise<SyslogRow[]> {
  const programs = findSyslogPrograms(agent);
  const passes = new Map<string, SyslogRow[]>();
  for (let run = 1; run <= options.runs; run++) {
    for (const transport of wantedTransports(options)) {
      for (const program of programs) {
        const messages = (options.quick ? 0.2 : 1) * (transport === 'tcp' ? 1_000_000 : 10 * UDP_RATE);
        const row = await pass(program, transport, messages, join(folder, 'syslog'));
        const key = `${program.name} ${transport}`;
        passes.set(key, [...(passes.get(key) ?? []), row]);
        say(
          `syslog/${transport}, ${program.name} ${run}/${options.runs}: ${row.cpuSecondsPerMillion.toFixed(2)} CPU-s a million, ${row.lost} of ${row.sent} lost`,
        );
      }
    }
  }
  return [...passes.values()].map((rows) => {
    const of = (key: 'sent' | 'lost' | 'cpuSecondsPerMillion' | 'peakRssBytes' | 'peakPrivateBytes' | 'rate') =>
      median(rows.map((row) => row[key]));
    const { program, transport } = rows[0]!;
    return {
      program,
      transport,
      sent: of('sent'),
      lost: of('lost'),
      cpuSecondsPerMillion: of('cpuSecondsPerMillion'),
      peakRssBytes: of('peakRssBytes'),
      peakPrivateBytes: of('peakPrivateBytes'),
      rate: of('rate'),
    };
  });
}

async function pass(
  program: SyslogProgram,
  transport: Transport,
  messages: number,
  folder: string,
): Promise<SyslogRow> {
  rmSync(folder, { recursive: true, force: true });
  const sink = await startSink();
  try {
    const port = await freePort();
    const running = await startMeasured(program.prepare(folder, transport, port, sink.port));
    await listens(transport, port);
    // What starting up still does in the background.
    await sleep(1000);
    const before = cpuSeconds(running.pid);
    const startedMs = Date.now();
    const sent = await send(transport, port, messages);
    let counts = await sink.counts();
    while (
      counts.events < sent * program.linesAnEvent &&
      (Date.now() - Math.max(counts.lastAnswerMs, startedMs) < QUIET_MS || counts.events === 0)
    ) {
      await sleep(100);
      counts = await sink.counts();
      if (Date.now() - startedMs > 300_000) break;
    }
    const used = cpuSeconds(running.pid) - before;
    running.terminate();
    const { peakRssBytes, peakPrivateBytes } = await running.done;
    const arrived = counts.events / program.linesAnEvent;
    return {
      program: program.name,
      transport,
      sent,
      lost: sent - arrived,
      cpuSecondsPerMillion: (used / arrived) * 1e6,
      peakRssBytes,
      peakPrivateBytes,
      rate: arrived / ((counts.lastAnswerMs - startedMs) / 1000),
    };
  } finally {
    await sink.stop();
  }
}

/** Sends by loggen, and answers how many messages it says it sent. */
async function send(transport: Transport, port: number, messages: number): Promise<number> {
  const rate = transport === 'tcp' ? 100_000_000 : UDP_RATE;
  const args = [
    '--inet',
    transport === 'tcp' ? '--stream' : '--dgram',
    '--size',
    String(MESSAGE_BYTES),
    '--number',
    String(messages),
  ];
  const { stdout, stderr } = await execute('loggen', [
    ...args,
    '--rate',
    String(rate),
    '--interval',
    '300',
    '127.0.0.1',
    String(port),
  ]);
  const count = [...(stderr + stdout).matchAll(/count=(\d+)/g)].at(-1)?.[1];
  if (count === undefined) throw new Error(`loggen did not say how much it sent: ${stderr}`);
  return Number(count);
}

/** CPU of a process and of its threads, the ended ones included. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}

/** Waits until the system's table has the socket. */
async function listens(transport: Transport, port: number): Promise<void> {
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')} `;
  for (
    const deadline = Date.now() + READY_MS;
    !readFileSync(`/proc/net/${transport}`, 'latin1').includes(address);
    await sleep(50)
  )
    if (Date.now() > deadline) throw new Error(`nothing listens on ${transport} port ${port}`);
}
