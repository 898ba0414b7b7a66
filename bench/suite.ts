/** The order of a whole run: verify, prove the sink, measure the scenarios in turns, then idle. Progress goes to stderr. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { messageOf } from '../src/core/errors.ts';
import { version } from '../src/core/version.ts';
import { COMPRESSIONS } from './agent.ts';
import { measureManyFiles } from './files.ts';
import { measureCompression } from './floor.ts';
import { measureIdle } from './idle.ts';
import { writeInput } from './inputs.ts';
import { measureLatency } from './latency.ts';
import { measureRotation, type RotationFigures } from './rotation.ts';
import type { Input, InputKind } from './inputs.ts';
import { describeMachine } from './machine.ts';
import type { Options } from './options.ts';
import type { AgentRow, KernelRow, PeerRow, Results, SyslogNgRow } from './results.ts';
import { findPeers } from './peers/peers.ts';
import { GIB, median, medianFigures, runAgent, runPeer, runSyslogNg, verifyAgent } from './run.ts';
import type { Figures } from './run.ts';
import { memoryText } from './measure.ts';
import { startSink } from './sink.ts';
import { SYSLOG_NG_JOBS, findSyslogNg } from './peers/syslog-ng/syslog-ng.ts';
import type { SyslogNgJob } from './peers/syslog-ng/syslog-ng.ts';

const SEED = 20_260_101;
const ROTATION_SECONDS = 10;
/** How many busy loops run beside each measurement of rotation. */
const ROTATION_LOOPS = [0, 4];
const KINDS: readonly InputKind[] = ['text', 'json'];
const BARE = fileURLToPath(new URL('bare.ts', import.meta.url));
const execute = promisify(execFile);

/** A scenario that is measured `runs` times; all of them take turns, so that a noisy minute hits each alike. */
interface Scenario {
  readonly name: string;
  readonly pass: () => Promise<Figures>;
  /** Of a program that is not ours: it does not end the run. */
  readonly failed?: (reason: string) => void;
}

/** Runs every scenario that `options.only` wants. Throws when a pass lost or changed an event. */
export async function measureAll(options: Options, program: string, folder: string): Promise<Results> {
  const wants = (name: string) => options.only.length === 0 || options.only.some((part) => name.includes(part));
  const found = findSyslogNg();
  const cases = KINDS.flatMap((kind) =>
    COMPRESSIONS.map((compression) => ({ kind, compression, name: `${kind}/${compression}` })),
  );
  const agentCases = cases.filter(({ name }) => wants(name));
  const jobs = found === undefined ? [] : SYSLOG_NG_JOBS.filter((job) => wants(`syslog-ng/${job}`));

  const make = (kind: InputKind, bytes: number, name: string) => writeInput(kind, SEED, bytes, join(folder, name));
  const one = make('text', 1, 'one.log');
  for (const { kind, compression, name } of agentCases) {
    say(`verifying ${name}: every line arrives once and unchanged`);
    await verifyAgent(program, join(folder, 'run'), make(kind, options.verifyBytes, `verify-${kind}.log`), compression);
  }

  say('measuring the null sink');
  const sink = await measureSink(options.loadBytes);
  say(`null sink: ${sink.cpuSecondsPerGiB.toFixed(2)} CPU-s/GiB, ${sink.gibPerSecond.toFixed(2)} GiB/s`);

  const inputs = new Map<string, Input>();
  const inputOf = (kind: InputKind, bytes: number): Input => {
    const name = `${kind}${bytes === options.bytes ? '' : '-small'}.log`;
    if (!inputs.has(name)) {
      say(`making ${name}`);
      inputs.set(name, make(kind, bytes, name));
    }
    return inputs.get(name)!;
  };
  const agentScenarios = agentCases.map(({ kind, compression, name }) => {
    const input = inputOf(kind, options.bytes);
    return { name, pass: () => runAgent(program, join(folder, 'run'), input, compression) };
  });
  const otherScenarios = jobs.map((job) => {
    const input = inputOf(kindOf(job), options.syslogNgBytes);
    return { name: `syslog-ng/${job}`, pass: () => runSyslogNg(found!, join(folder, 'run'), input, job) };
  });
  const bareScenarios = agentCases
    .filter(({ compression }) => compression === 'none')
    .map(({ kind }) => {
      const input = inputOf(kind, options.bytes);
      return { name: `bare/${kind}`, pass: () => runAgent(BARE, join(folder, 'run'), input, 'none') };
    });
  const startScenarios = [
    ...(bareScenarios.length === 0
      ? []
      : [{ name: 'bare start-up', pass: () => runAgent(BARE, join(folder, 'run'), one, 'none') }]),
    { name: 'start-up', pass: () => runAgent(program, join(folder, 'run'), one, 'none') },
    ...(jobs.length === 0
      ? []
      : [{ name: 'syslog-ng start-up', pass: () => runSyslogNg(found!, join(folder, 'run'), one, 'text') }]),
  ];
  const peers = findPeers().flatMap((peer) =>
    peer.tunings.map((tuning) => ({ peer, tuning, name: `peers/${peer.name}/${tuning}` })),
  );
  const failures = new Map<string, string>();
  const peerScenarios = peers
    .filter(({ name }) => wants(name))
    .map((scenario) => {
      const { peer, tuning, name } = scenario;
      const input = inputOf('text', options.syslogNgBytes);
      return {
        ...scenario,
        pass: () => runPeer(peer, tuning, join(folder, 'run'), input),
        failed: (reason: string) => void failures.set(name, reason),
      };
    });
  const scenarios = [...startScenarios, ...agentScenarios, ...bareScenarios, ...otherScenarios, ...peerScenarios];
  const passes = await takeTurns(scenarios, options.runs);
  const startup = {
    agent: median(passes.get('start-up')!.map((figures) => figures.cpuSeconds)),
    syslogNg:
      jobs.length === 0 ? undefined : median(passes.get('syslog-ng start-up')!.map((figures) => figures.cpuSeconds)),
  };

  const bareOf = (kind: InputKind): number => {
    const start = median(passes.get('bare start-up')!.map((figures) => figures.cpuSeconds));
    return median(passes.get(`bare/${kind}`)!.map((figures) => (figures.cpuSeconds - start) / (options.bytes / GIB)));
  };
  const agent: AgentRow[] = [];
  for (const { kind, compression, name } of agentCases) {
    const perGiB = passes.get(name)!.map((figures) => figures.cpuSecondsPerGiB);
    const alone =
      compression === 'none' ? undefined : await measureCompression(inputOf(kind, options.bytes), compression);
    agent.push({
      kind,
      compression,
      figures: medianFigures(passes.get(name)!),
      spread: [Math.min(...perGiB), Math.max(...perGiB)],
      compressionAlone: alone,
      bare: compression === 'none' ? bareOf(kind) : undefined,
    });
  }
  const rows = jobs.map((job): SyslogNgRow => {
    const figures = medianFigures(passes.get(`syslog-ng/${job}`)!);
    const own = agent.find((row) => row.kind === kindOf(job) && row.compression === 'none')?.figures;
    const ratio =
      own &&
      (figures.cpuSeconds - startup.syslogNg!) /
        options.syslogNgBytes /
        ((own.cpuSeconds - startup.agent) / options.bytes);
    return { job, figures, ratio };
  });

  const kernel = wants('kernel') ? await measureKernel() : undefined;
  if (wants('idle')) say(`idle: ${options.idleSeconds} s on 100 files`);
  const idle = wants('idle') ? await measureIdle(program, join(folder, 'idle'), options.idleSeconds) : undefined;
  if (wants('latency')) say(`latency: ${options.latencySeconds} s at 1,000 lines a second`);
  const latency = wants('latency')
    ? await measureLatency(program, join(folder, 'latency'), options.latencySeconds)
    : undefined;
  const rotation: RotationFigures[] = [];
  for (const loops of wants('rotation') ? ROTATION_LOOPS : []) {
    say(`rotation: every 50 ms, for ${ROTATION_SECONDS} s, beside ${loops} busy loops`);
    rotation.push(await measureRotation(program, join(folder, `rotation-${loops}`), ROTATION_SECONDS, loops));
  }
  if (wants('files')) say(`files: 10,000 of them, ${options.idleSeconds / 2} s idle, as long with 100 that grow`);
  const manyFiles = wants('files')
    ? await measureManyFiles(program, join(folder, 'files'), options.idleSeconds / 2)
    : undefined;
  return {
    machine: describeMachine(),
    version,
    quick: options.quick,
    runs: options.runs,
    inputBytes: options.bytes,
    syslogNgInputBytes: options.syslogNgBytes,
    sink,
    startup,
    agent,
    idle,
    latency,
    rotation,
    manyFiles,
    kernel,
    peers: peerScenarios.map(({ name, peer, tuning }): PeerRow => {
      const failure = failures.get(name);
      const figures = failure === undefined ? medianFigures(passes.get(name)!) : undefined;
      return { name: peer.name, version: peer.version, tuning, figures, failure };
    }),
    syslogNg: found === undefined ? undefined : { version: found.version, rows },
  };
}

async function takeTurns(scenarios: readonly Scenario[], runs: number): Promise<Map<string, Figures[]>> {
  const passes = new Map<string, Figures[]>(scenarios.map(({ name }) => [name, []]));
  for (let run = 1; run <= runs; run++) {
    for (const { name, pass, failed } of scenarios) {
      const figures = await pass().catch((error: unknown) => {
        if (!failed) throw error;
        failed(messageOf(error));
        return undefined;
      });
      if (!figures) {
        say(`${name} ${run}/${runs}: failed`);
        continue;
      }
      passes.get(name)!.push(figures);
      const { cpuSeconds, cpuSecondsPerGiB, gibPerSecond } = figures;
      const perGiB = name.endsWith('start-up')
        ? ''
        : `${cpuSecondsPerGiB.toFixed(2)} CPU-s/GiB, ${gibPerSecond.toFixed(2)} GiB/s, `;
      say(`${name} ${run}/${runs}: ${perGiB}${cpuSeconds.toFixed(2)} CPU-s, ${memoryText(figures)}`);
    }
  }
  return passes;
}

/** What the sink can take, and costs, under a generator that does nothing but send. */
async function measureSink(bytes: number): Promise<Results['sink']> {
  const sink = await startSink();
  try {
    const generator = fileURLToPath(new URL('load.ts', import.meta.url));
    const { stdout } = await execute(process.execPath, [
      '--disable-warning=ExperimentalWarning',
      generator,
      String(sink.port),
      String(bytes),
    ]);
    const sent = JSON.parse(stdout) as { seconds: number; bytes: number };
    const { cpuSeconds } = await sink.counts();
    return { cpuSecondsPerGiB: cpuSeconds / (sent.bytes / GIB), gibPerSecond: sent.bytes / GIB / sent.seconds };
  } finally {
    await sink.stop();
  }
}

/** The byte loops alone, as bench/kernel.ts prints them. */
async function measureKernel(): Promise<KernelRow[]> {
  say('measuring the kernel alone');
  const { stdout } = await execute(process.execPath, [
    '--disable-warning=ExperimentalWarning',
    fileURLToPath(new URL('kernel.ts', import.meta.url)),
    '--json',
  ]);
  const { results } = JSON.parse(stdout) as { results: Record<string, { gbPerSecond: number }> };
  return Object.entries(results).map(([name, { gbPerSecond }]) => ({ name, gigabytesPerSecond: gbPerSecond }));
}

export function say(text: string): void {
  process.stderr.write(`bench ${process.uptime().toFixed(1).padStart(6)} s  ${text}\n`);
}

function kindOf(job: SyslogNgJob): InputKind {
  return job === 'text' ? 'text' : 'json';
}
