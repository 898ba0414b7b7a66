/**
 * `npm run bench`: measures the agent (CPU a GiB, memory, rate) on inputs made from a seed, against a null sink that is
 * shown not to be the bottleneck, and syslog-ng on the same work in the same run. docs/benchmarks.md says how to read it.
 * Progress goes to stderr, the tables (or `--json`) to stdout. Exits 1 when any pass lost or changed an event.
 */
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatSize } from '../src/config/fields/units.ts';
import { TailraceError, UsageError, messageOf } from '../src/core/errors.ts';
import { version } from '../src/core/version.ts';
import { buildAgent } from './agent.ts';
import { drawAll, measureGrowth, renderGrowth } from './growth/suite.ts';
import { USAGE, parseOptions } from './options.ts';
import type { Options } from './options.ts';
import { measureJournal, renderJournal, wantsJournal } from './journal/suite.ts';
import { describeMachine } from './machine.ts';
import { measurePage, renderPage, wantsPage } from './page/suite.ts';
import { renderMachine, renderReport, writeReport } from './report.ts';
import { measureBeside, renderBeside } from './service/beside.ts';
import { measureQueries } from './service/queries.ts';
import { renderQueries } from './service/report.ts';
import { measureScaling, renderScaling, wantsScaling } from './service/scaling/suite.ts';
import {
  measureService,
  measureStores,
  renderService,
  wantsBeside,
  wantsQueries,
  wantsService,
} from './service/suite.ts';
import { measureAll, say } from './suite.ts';
import { renderSyslog } from './syslog/report.ts';
import { renderTransforms } from './transform/report.ts';
import { measureTransforms, wantsTransforms } from './transform/suite.ts';
import { measureSyslog, wantsSyslog } from './syslog/suite.ts';

/** Turns of each query, and openings of the page, for each of `--runs`. */
const QUERY_TURNS = 5;
const pageOf = (name: string): string => fileURLToPath(new URL(`../docs/${name}.md`, import.meta.url));

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  if (options === 'help') return console.log(USAGE);
  const folder = mkdtempSync(join(tmpdir(), 'tailrace-bench-'));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  if (options.keep) say(`inputs and folders of the runs stay in ${folder}`);
  else process.once('exit', removeFolder);
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
  requireRoom(folder, options);

  say('building the agent');
  const program = options.agent ?? buildAgent();
  if (options.growth) {
    const grown = await measureGrowth(options, program, folder);
    const report = `${renderMachine(describeMachine(), version, 1)} Shared inputs are of ${formatSize(Math.ceil(options.bytes / 4))}.\n\n${renderGrowth(grown)}`;
    console.log(options.json ? JSON.stringify(grown, undefined, 2) : report);
    if (options.write) writeReport(pageOf('benchmarks'), 'growth', report);
    if (options.write || options.keep)
      drawAll(grown, options.write ? join(pageOf('benchmarks'), '../pictures') : folder);
    return;
  }
  const ownParts = ['service/ingest', 'service/query', 'service/beside', 'syslog/tcp', 'syslog/udp', 'page', 'journal'];
  const isWithoutAgent =
    options.only.length > 0 &&
    options.only.every((part) => /^(?:transform|scaling)/.test(part) || ownParts.some((name) => name.includes(part)));
  const results = isWithoutAgent ? undefined : await measureAll(options, program, folder);
  const service = wantsService(options) ? await measureService(options, program, folder) : undefined;
  const turns = options.runs * QUERY_TURNS;
  const queries = wantsQueries(options) ? await measureQueries(program, folder, options.queryRows, turns) : undefined;
  const stores = wantsQueries(options) ? await measureStores(options, program, folder, turns) : undefined;
  const beside = wantsBeside(options)
    ? await measureBeside(program, join(folder, 'beside'), options.queryRows, options.runs)
    : undefined;
  const page = wantsPage(options) ? await measurePage(program, join(folder, 'page'), turns) : undefined;
  if (wantsPage(options) && !page) say('chromium is not installed: the page is not measured');
  const syslog = wantsSyslog(options) ? await measureSyslog(options, program, folder) : undefined;
  const journal = wantsJournal(options) ? await measureJournal(options, program, folder) : undefined;
  if (wantsJournal(options) && !journal) say('systemd-journal-remote is not installed: the journal is not measured');
  const transforms = wantsTransforms(options) ? await measureTransforms(options, program, folder) : undefined;
  const scaling = wantsScaling(options) ? await measureScaling(options, program, folder) : undefined;
  const measuredWhere = renderMachine(describeMachine(), version, options.runs);
  const parts = {
    ...(results && { agent: renderReport(results) }),
    ...(service && { service: `${measuredWhere}\n\n${renderService(service)}\n` }),
    ...(queries && {
      queries: `${renderMachine(describeMachine(), version, turns)}\n\n${renderQueries(queries, options.queryRows)}\n`,
    }),
    ...(stores !== undefined && { stores: `${renderMachine(describeMachine(), version, turns)}\n\n${stores}\n` }),
    ...(beside && { beside: `${measuredWhere}\n\n${renderBeside(beside)}\n` }),
    ...(page && { page: `${renderMachine(describeMachine(), version, turns)}\n\n${renderPage(page)}\n` }),
    ...(transforms && { transforms: `${measuredWhere}\n\n${renderTransforms(transforms)}\n` }),
    ...(syslog && { syslog: `${measuredWhere}\n\n${renderSyslog(syslog)}\n` }),
    ...(journal && { journal: `${measuredWhere}\n\n${renderJournal(journal)}\n` }),
    ...(scaling && renderScaling(scaling, measuredWhere)),
  };
  console.log(
    options.json
      ? JSON.stringify(
          { ...results, service, queries, stores, beside, page, syslog, journal, transforms, scaling },
          undefined,
          2,
        )
      : Object.values(parts).join('\n'),
  );
  if (options.write)
    for (const [part, report] of Object.entries(parts))
      writeReport(pageOf(part.startsWith('scaling') ? 'scaling' : 'benchmarks'), part as keyof typeof parts, report);
}

function requireRoom(folder: string, { bytes }: Options): void {
  const { bavail, bsize } = statfsSync(folder);
  const needed = 3 * bytes;
  if (bavail * bsize >= needed) return;
  throw new UsageError(
    'E_USAGE',
    `the temporary folder has room for ${bavail * bsize} bytes, the inputs need ${needed}`,
    {
      fix: 'give a smaller --size, or a TMPDIR with more room',
    },
  );
}

try {
  await main();
} catch (error) {
  process.stderr.write(
    `bench: ${messageOf(error)}${error instanceof TailraceError && error.fix !== undefined ? `; ${error.fix}` : ''}\n`,
  );
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
