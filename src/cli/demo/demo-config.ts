/** The demo's configuration: the sample application's log, and those of this machine that the user may read. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfigText } from '../../config/load/load.ts';
import type { ServiceAddress } from '../../sinks/common/sink-type.ts';
import { SINK_TYPES, trialSink } from '../../sinks/registry.ts';
import type { Proposal, SourceType } from '../../sources/common/source-type.ts';
import { FILES_TYPE, SOURCE_TYPES } from '../../sources/registry.ts';
import { checkMachine } from '../check/check-machine.ts';
import { orElse } from '../output/or-else.ts';

export async function demoConfig(folder: string, to: ServiceAddress): Promise<string> {
  const proposals = await readableProposals();
  const takesJournal = proposals.length > 0;
  const machineLogs = findMachineLogs().filter((glob) => !takesJournal || glob.endsWith('*.log'));
  // rsyslog writes the journal's entries into files: each would come twice.
  const ofJournal = takesJournal ? ', auth.log, cron.log, daemon.log, kern.log, mail.log, user.log' : '';
  const machine = [
    '  machine:',
    `    type: ${FILES_TYPE}`,
    `    include: ${JSON.stringify(machineLogs)}`,
    `    exclude: ["*.gz", "*.xz", "*.zst"${ofJournal}]`,
  ];
  return [
    "# The demo's configuration; a copy of it is a good start for your own.",
    `data_dir: ${JSON.stringify(join(folder, 'agent'))}`,
    'sources:',
    '  sample_app:',
    `    type: ${FILES_TYPE}`,
    `    include: [${JSON.stringify(join(folder, 'sample-app', '*.log'))}]`,
    '    scan_interval: 250ms',
    ...proposals.flatMap(({ entry }) => entry),
    ...(machineLogs.length === 0 ? [] : machine),
    'sinks:',
    ...Object.values(SINK_TYPES).flatMap((type) => type.propose?.(to) ?? []),
    'telemetry: {listen: "127.0.0.1:0", log_level: warn}',
    '',
  ].join('\n');
}

/** Logs of this machine that are in no file, and that this user may read. */
async function readableProposals(): Promise<Proposal[]> {
  const readable: Proposal[] = [];
  for (const type of Object.values<SourceType>(SOURCE_TYPES)) {
    const proposal = type.propose?.([], []);
    if (!proposal) continue;
    const config = loadConfigText(
      `sources:\n${proposal.entry.join('\n')}\nsinks: {trial: ${trialSink()}}`,
      process.env,
    );
    const { problems, warnings } = await checkMachine(config, (path) => ({ file: path, line: 1, column: 1 }));
    if (![...problems, ...warnings].some(({ file }) => file.startsWith('sources.'))) readable.push(proposal);
  }
  return readable;
}

/** Globs for the usual logs, of readable folders only. */
function findMachineLogs(): string[] {
  const globs = [
    ['/var/log', '/var/log/*.log'],
    ['/var/log/syslog', '/var/log/syslog'],
    ['/var/log/messages', '/var/log/messages'],
    ['/var/log/apt', '/var/log/apt/*.log'],
    ['/var/log/nginx', '/var/log/nginx/*.log'],
    ['/var/log/postgresql', '/var/log/postgresql/*.log'],
  ] as const;
  return globs.filter(([place]) => isReadable(place)).map(([, glob]) => glob);
}

const isReadable = (place: string): boolean =>
  orElse(false, () => !statSync(place).isDirectory() || readdirSync(place).length >= 0);
