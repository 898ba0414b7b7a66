/** The command line of the benchmarks. */
import { parseArgs } from 'node:util';
import { parseSize } from '../src/config/fields/units.ts';
import { UsageError } from '../src/core/errors.ts';

export interface Options {
  readonly quick: boolean;
  readonly bytes: number;
  readonly syslogNgBytes: number;
  readonly serviceBytes: number;
  /** Events that are queried. */
  readonly queryRows: number;
  readonly runs: number;
  readonly idleSeconds: number;
  readonly latencySeconds: number;
  readonly verifyBytes: number;
  readonly loadBytes: number;
  readonly json: boolean;
  readonly write: boolean;
  readonly keep: boolean;
  /** Parts of a scenario's name; none means all. */
  readonly only: readonly string[];
  readonly agent: string | undefined;
  /** Measures growth in place of all else. */
  readonly growth: boolean;
}

export const USAGE = `npm run bench -- [options]
  --quick          rough figures in a few minutes: 256 MiB, one pass, 20 s idle
  --size SIZE      input of each kind (default 1GiB; the service gets a quarter of it, syslog-ng an eighth)
  --runs N         passes of each scenario, of which the median counts (default 3)
  --only NAME      only scenarios whose name contains NAME, such as text/gzip, json, idle, files, latency, rotation, kernel, service, query, beside, page, syslog, syslog-ng, peers, journal, transform; may be repeated; scaling runs only when it is named
  --growth         CPU and memory while files, sources, sinks, line length, rate or backlog grow, in place of all else; --only takes their names; with --write pictures for docs/
  --agent FILE     another build's main.cjs in place of dist/main.cjs
  --write          put the tables into docs/benchmarks.md
  --json           print the results as JSON in place of the tables
  --keep           keep the inputs and the runs' folders, and say where they are`;

/** Throws a `UsageError` that names the mistake. */
export function parseOptions(args: readonly string[]): Options | 'help' {
  const { values } = readArguments(args);
  if (values.help === true) return 'help';
  const quick = values.quick === true;
  const bytes = parseSize(values.size ?? (quick ? '256MiB' : '1GiB'));
  if (!bytes.ok) throw new UsageError('E_USAGE', `--size "${values.size}" ${bytes.message}`, { fix: bytes.fix });
  const runs = Number(values.runs ?? (quick ? 1 : 3));
  if (!Number.isInteger(runs) || runs < 1 || runs > 99) {
    throw new UsageError('E_USAGE', `--runs "${values.runs}" is not a number of passes`, {
      fix: 'give a whole number from 1 to 99',
    });
  }
  return {
    quick,
    bytes: bytes.value,
    syslogNgBytes: Math.ceil(bytes.value / 8),
    serviceBytes: Math.ceil(bytes.value / 4),
    queryRows: quick ? 300_000 : 3_000_000,
    runs,
    idleSeconds: quick ? 20 : 60,
    latencySeconds: quick ? 10 : 60,
    verifyBytes: Math.min(bytes.value, (quick ? 4 : 32) * 2 ** 20),
    loadBytes: (quick ? 1 : 4) * 2 ** 30,
    json: values.json === true,
    write: values.write === true,
    keep: values.keep === true,
    only: values.only ?? [],
    agent: values.agent,
    growth: values.growth === true,
  };
}

function readArguments(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h' },
        quick: { type: 'boolean' },
        size: { type: 'string' },
        runs: { type: 'string' },
        only: { type: 'string', multiple: true },
        agent: { type: 'string' },
        write: { type: 'boolean' },
        json: { type: 'boolean' },
        keep: { type: 'boolean' },
        growth: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new UsageError('E_USAGE', (error as Error).message, { fix: 'see --help', cause: error });
  }
}
