/** The agent under test: the bundled build as a child process, with a configuration of defaults wherever there is one. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ADDED_FIELD } from './checksum.ts';
import type { InputKind } from './inputs.ts';

export type Compression = 'auto' | 'none' | 'gzip' | 'zstd';
/** Measured one by one; `auto` sends zstd to the null sink. */
export const COMPRESSIONS = ['none', 'gzip', 'zstd'] as const;

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BUNDLE = join(ROOT, 'dist', 'main.cjs');

/** Builds the bundle when it is missing or older than a source, and answers its path. */
export function buildAgent(): string {
  execFileSync(process.execPath, [join(ROOT, 'scripts', 'build.ts'), '--if-stale'], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return BUNDLE;
}

export interface AgentSetup {
  /** The program: what `buildAgent` answered, or another build to compare with. */
  readonly program: string;
  /** A folder of this run alone. */
  readonly folder: string;
  readonly include: string;
  readonly kind: InputKind;
  readonly compression: Compression;
  readonly port: number;
  /** False: follow the files until SIGTERM. */
  readonly once: boolean;
  /** Events as they are read, through this transform where there is one; nothing is added to them. */
  readonly shaping?: Shaping | undefined;
}

export interface Shaping {
  readonly transform: string | undefined;
  readonly time: 'read' | 'auto';
}

/** Writes the configuration and answers the command line that runs the agent on it. */
export function prepareAgent(setup: AgentSetup): string[] {
  mkdirSync(setup.folder, { recursive: true });
  const file = join(setup.folder, 'tailrace.yaml');
  writeFileSync(file, agentConfig(setup));
  return [...launcher(), setup.program, 'run', ...(setup.once ? ['--once'] : []), '--config', file];
}

/** Node as `bin/tailrace run` starts it, with the same flags and the same environment. */
export function launcher(): [command: string, ...args: string[]] {
  const script = readFileSync(join(ROOT, 'bin', 'tailrace'), 'utf8');
  const flag = /--max-semi-space-size=\d+/.exec(script)?.[0];
  const settings = [...script.matchAll(/(MALLOC_\w+):-(\d+)/g)].map(([, name, value]) => `${name}=${value}`);
  if (flag === undefined || settings.length === 0)
    throw new Error('bin/tailrace no longer says how it starts Node; change this function with it');
  return ['env', ...settings, process.execPath, '--disable-warning=ExperimentalWarning', flag];
}

function agentConfig({ folder, include, kind, compression, port, shaping }: AgentSetup): string {
  const adds = kind === 'json' && !shaping;
  return `data_dir: ${JSON.stringify(join(folder, 'data'))}
${adds ? `fields: ${JSON.stringify(ADDED_FIELD)}\n` : ''}sources:
  input:
    type: file
    include: [${JSON.stringify(include)}]
${shaping ? `    time: ${shaping.time}\n${shaping.transform === undefined ? '' : `    transform: ${JSON.stringify(shaping.transform)}\n`}` : ''}sinks:
  store:
    type: ingest
    url: http://127.0.0.1:${port}
    token: bench
    org_id: bench
    dataset: bench
    compression: ${compression}
${adds ? '    timestamp_field: time\n' : ''}telemetry: {listen: "127.0.0.1:0", log_level: warn}
`;
}
