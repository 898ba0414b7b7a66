/** What `tailrace check` finds on this machine beside the configuration's text: globs without files, secrets, buffers. */
import { orElse } from '../output/or-else.ts';
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { describeShortMemory } from '../../agent/build/memory-limit.ts';
import type { ConfigProblem } from '../../config/config-error.ts';
import type { Finding } from '../../config/findings.ts';
import type { Config } from '../../config/model.ts';
import { systemClock } from '../../core/time/clock.ts';
import { sinkTypeOf } from '../../sinks/registry.ts';
import { ListedPrivateFiles } from '../../sources/file/scan/private-files.ts';
import { sourceTypeOf } from '../../sources/registry.ts';
import { describeSharedFiles } from '../agent/shared-files.ts';

/** The place of a configuration path such as `sources.app.include.0`. */
export type Locate = (path: string) => Pick<ConfigProblem, 'file' | 'line' | 'column'>;

export interface MachineFindings {
  readonly problems: readonly ConfigProblem[];
  readonly warnings: readonly ConfigProblem[];
}

const RMEM_MAX = '/proc/sys/net/core/rmem_max';

/** Reads folders, token and certificate files, nothing else. `rmemMaxFile` holds the largest receive buffer that the kernel grants. */
export async function checkMachine(config: Config, locate: Locate, rmemMaxFile = RMEM_MAX): Promise<MachineFindings> {
  const warnings: ConfigProblem[] = [...checkDataDir(config.dataDir, locate)];
  const privateFiles = new ListedPrivateFiles(() => config, systemClock);
  const problems: ConfigProblem[] = [];
  const findings: Finding[] = [];
  for (const source of config.sources)
    findings.push(...((await sourceTypeOf(source).check?.(source, { privateFiles, rmemMaxFile })) ?? []));
  findings.push(...config.sinks.flatMap((sink) => sinkTypeOf(sink).check?.(sink) ?? []));
  for (const { path, message, fix, isWarning = false } of findings)
    (isWarning ? warnings : problems).push({ ...locate(path), message, fix });
  for (const { source, message, fix } of await describeSharedFiles(config))
    warnings.push({ ...locate(`sources.${source}.include`), message, fix });
  const short = describeShortMemory();
  if (short) warnings.push({ ...locate('sinks'), ...short });
  return { problems, warnings };
}

/** The folder may be missing: the agent makes it. */
function checkDataDir(folder: string, locate: Locate): ConfigProblem[] {
  let there = folder;
  while (!existsSync(there) && there !== dirname(there)) there = dirname(there);
  if (may(there, constants.W_OK | constants.X_OK)) return [];
  const message = `this user cannot write to ${there}, where the data folder ${there === folder ? 'is' : `\`${folder}\` would be`}`;
  return [
    {
      ...locate('data_dir'),
      message,
      fix: 'give the user that runs the agent the right to, or set data_dir to another folder',
    },
  ];
}

const may = (path: string, mode: number): boolean => orElse(false, () => (accessSync(path, mode), true));
