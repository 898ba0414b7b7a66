/** What a run of the benchmarks found, as `--json` prints it, and the targets it is held against. */
import type { Compression } from './agent.ts';
import type { ManyFilesFigures } from './files.ts';
import type { IdleFigures } from './idle.ts';
import type { InputKind } from './inputs.ts';
import type { LatencyFigures } from './latency.ts';
import type { RotationFigures } from './rotation.ts';
import type { Machine } from './machine.ts';
import type { Figures } from './run.ts';
import type { SyslogNgJob } from './peers/syslog-ng/syslog-ng.ts';

export interface AgentRow {
  readonly kind: InputKind;
  readonly compression: Compression;
  readonly figures: Figures;
  /** Smallest and largest CPU-s/GiB of the passes: how noisy the machine was. */
  readonly spread: readonly [number, number];
  /** CPU-s/GiB of the compression alone, without an agent (floor.ts). */
  readonly compressionAlone: number | undefined;
  /** CPU-s/GiB of kernel and connections with nothing around them, start-up taken off (bare.ts); of uncompressed rows. */
  readonly bare: number | undefined;
}

export interface SyslogNgRow {
  readonly job: SyslogNgJob;
  readonly figures: Figures;
  /** Its CPU-s/GiB by the agent's on the same input in this run, start-up taken off both. */
  readonly ratio: number | undefined;
}

export interface PeerRow {
  readonly name: string;
  readonly version: string;
  readonly tuning: string;
  /** Undefined where a pass lost events, or did not end in time: `failure` says it. */
  readonly figures: Figures | undefined;
  readonly failure: string | undefined;
}

export interface Results {
  readonly machine: Machine;
  readonly version: string;
  readonly quick: boolean;
  readonly runs: number;
  readonly inputBytes: number;
  readonly syslogNgInputBytes: number;
  readonly sink: { readonly cpuSecondsPerGiB: number; readonly gibPerSecond: number };
  /** CPU of the agent, and of syslog-ng, from start to end with a single line to ship. */
  readonly startup: { readonly agent: number; readonly syslogNg: number | undefined };
  readonly agent: readonly AgentRow[];
  readonly idle: IdleFigures | undefined;
  readonly latency: LatencyFigures | undefined;
  /** Alone, and beside busy loops; empty where it was not wanted. */
  readonly rotation: readonly RotationFigures[];
  readonly manyFiles: ManyFilesFigures | undefined;
  readonly kernel: readonly KernelRow[] | undefined;
  /** Those on PATH, on text. */
  readonly peers: readonly PeerRow[];
  readonly syslogNg: { readonly version: string; readonly rows: readonly SyslogNgRow[] } | undefined;
}

export interface KernelRow {
  readonly name: string;
  readonly gigabytesPerSecond: number;
}

export interface Verdict {
  readonly what: string;
  readonly target: string;
  /** Undefined when this run did not measure it. */
  readonly figure: string | undefined;
  readonly met: boolean;
}

const MB = 1e6;

/** Each target with its figure. CPU is that of the whole process, its start-up included. */
export function judge(results: Results): Verdict[] {
  const cpu = (kind: InputKind, compression: Compression, most: number) => {
    const value = results.agent.find((row) => row.kind === kind && row.compression === compression)?.figures
      .cpuSecondsPerGiB;
    return atMost(`${kind}, ${compression}`, value, most, 2, 'CPU-s/GiB');
  };
  const peaks = results.agent.map((row) => row.figures.peakRssBytes / MB);
  const wrap = results.kernel?.find((row) => row.name === 'wrap: text')?.gigabytesPerSecond;
  return [
    cpu('text', 'none', 1.0),
    cpu('json', 'none', 1.0),
    cpu('text', 'gzip', 7),
    cpu('json', 'gzip', 7),
    cpu('text', 'zstd', 3.4),
    cpu('json', 'zstd', 3.4),
    atMost('peak RSS, the largest of all', peaks.length > 0 ? Math.max(...peaks) : undefined, 120, 0, 'MB'),
    atMost('idle on 100 files, RSS', results.idle && results.idle.rssBytes / MB, 85, 0, 'MB'),
    atMost('idle on 100 files, CPU', results.idle?.cpuSecondsPerMinute, 0.2, 3, 'CPU-s a minute'),
    {
      what: 'kernel, wrap text lines',
      target: '≥ 2.5 GB/s',
      figure: wrap === undefined ? undefined : `${wrap.toFixed(2)} GB/s`,
      met: wrap !== undefined && wrap >= 2.5,
    },
  ];
}

function atMost(what: string, value: number | undefined, most: number, digits: number, unit: string): Verdict {
  return {
    what,
    target: `≤ ${most} ${unit}`,
    figure: value === undefined ? undefined : `${value.toFixed(digits)} ${unit}`,
    met: value !== undefined && value <= most,
  };
}
