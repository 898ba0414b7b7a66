/**
 * The same work by the shippers that are on PATH: lines of a file as events over HTTP into the null sink, uncompressed. Each has a folder
 * with commented configurations, at its defaults and tuned; `@INPUT@`, `@PORT@` and `@FOLDER@` in them are those of a run.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';

export interface Peer {
  readonly name: string;
  readonly version: string;
  /** `default`, `tuned`. */
  readonly tunings: readonly string[];
  /** Writes the configuration and answers the command line. `folder` is of this run alone. */
  prepare(tuning: string, run: Run): readonly string[];
}

interface Run {
  readonly folder: string;
  readonly input: string;
  readonly port: number;
}

interface Program {
  readonly version: readonly string[];
  /** Behind the program's name; `config` is its file in `folder`. */
  readonly args: (config: string, folder: string) => readonly string[];
}

/** A new peer is a line here and a folder of its name. */
const PROGRAMS: Readonly<Record<string, Program>> = {
  'fluent-bit': { version: ['--version'], args: (config) => ['-c', config] },
  vector: { version: ['--version'], args: (config) => ['-q', '--config', config] },
  otelcol: { version: ['--version'], args: (config) => [`--config=${config}`] },
  filebeat: {
    version: ['version'],
    args: (config, folder) => ['-e', '--strict.perms=false', '-c', config, '--path.home', folder],
  },
  'syslog-ng': {
    version: ['--version'],
    args: (config, folder) => {
      const own = (name: string) => join(folder, name);
      return [
        '-F',
        '--no-caps',
        '-f',
        config,
        '--persist-file',
        own('persist'),
        '--pidfile',
        own('pid'),
        '--control',
        own('control'),
      ];
    },
  },
};

/** Those whose program is on PATH. */
export function findPeers(): Peer[] {
  return Object.entries(PROGRAMS).flatMap(([name, { version, args }]) => {
    const said = versionOf(name, version);
    if (said === undefined) return [];
    const configs = readdirSync(join(import.meta.dirname, name)).filter((file) => extname(file) !== '.ts');
    return {
      name,
      version: said,
      tunings: configs.map((file) => file.split('.')[0]!),
      prepare(tuning: string, { folder, input, port }: Run) {
        const file = configs.find((each) => each.startsWith(`${tuning}.`))!;
        mkdirSync(folder, { recursive: true });
        const text = readFileSync(join(import.meta.dirname, name, file), 'utf8');
        const config = join(folder, file);
        writeFileSync(
          config,
          text.replaceAll('@INPUT@', input).replaceAll('@PORT@', String(port)).replaceAll('@FOLDER@', folder),
        );
        return [name, ...args(config, folder)];
      },
    };
  });
}

function versionOf(name: string, args: readonly string[]): string | undefined {
  try {
    const said = execFileSync(name, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return /\d+\.\d+(?:\.\d+)?/.exec(said)?.[0] ?? 'unknown';
  } catch {
    return undefined;
  }
}
