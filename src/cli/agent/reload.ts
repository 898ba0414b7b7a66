/** `tailrace reload`: makes the running agent reload its configuration, waits, and prints what changed, or why nothing did. */
import { askAgent } from '../../agent/control/control.ts';
import type { ReloadReport } from '../../agent/reload/reload-report.ts';
import type { ComponentChanges, ConfigChanges } from '../../config/compare.ts';
import { formatProblem, type ConfigProblem } from '../../config/config-error.ts';
import { findConfig } from '../../config/load/find.ts';
import { readConfig } from '../../config/load/load.ts';
import { printableLines } from '../../config/quote.ts';
import { TailraceError } from '../../core/errors.ts';
import { plural } from '../output/say.ts';
import type { ConfigArguments } from './config-arguments.ts';

/** Resolves with 0 when it is in force, 2 when it has problems, 1 when it cannot be taken into force. Throws `TailraceError`. */
export async function reload(args: ConfigArguments): Promise<number> {
  // The agent reads the file itself; here it only tells where the agent is.
  const { dataDir, problems } = readConfig(findConfig(args.config), process.env, { leavesSecrets: true });
  const answer = dataDir === undefined ? undefined : await askAgent(dataDir, { command: 'reload', args: [] });
  if (!answer && problems.length > 0) return print({ ok: false, problems }, args);
  if (!answer)
    throw new TailraceError('E_NO_AGENT', `no agent runs on "${dataDir}"`, {
      fix: 'start one: tailrace run, or systemctl start tailrace; where data_dir itself was changed, restart the agent',
    });
  return print(answer.result as ReloadReport, args);
}

function print(report: ReloadReport, { json }: ConfigArguments): number {
  if (json === true) process.stdout.write(`${JSON.stringify(report)}\n`);
  else if (report.ok) process.stdout.write(printableLines(describeChanges(report.changes, report.restarted)));
  else
    process.stderr.write(
      printableLines('problems' in report ? describeProblems(report.problems) : describeFailure(report)),
    );
  return report.ok ? 0 : 'problems' in report ? 2 : 1;
}

/** One line for the configuration in force, one for each kind of change. */
function describeChanges({ sources, sinks, other }: ConfigChanges, restarted: string | undefined): string {
  const changes = [...describeComponents('source', sources), ...describeComponents('sink', sinks)];
  if (other.length > 0) changes.push(`  changed: ${other.join(', ')}`);
  if (restarted !== undefined) changes.push(`  everything was stopped and started again: ${restarted}`);
  const untouched = `${plural(sources.untouched.length, 'source')} and ${plural(sinks.untouched.length, 'sink')} untouched`;
  if (changes.length === 0) return `the configuration is in force; nothing changed: ${untouched}\n`;
  return `the changed configuration is in force\n${changes.map((line) => `${line}\n`).join('')}  ${untouched}\n`;
}

function describeComponents(what: 'source' | 'sink', changes: ComponentChanges): string[] {
  return (['added', 'removed', 'changed'] as const).flatMap((how) => {
    const ids = changes[how];
    return ids.length === 0 ? [] : [`  ${how}: ${what}${ids.length > 1 ? 's' : ''} ${ids.join(', ')}`];
  });
}

function describeProblems(problems: readonly ConfigProblem[]): string {
  const lines = problems.map((problem) => `${formatProblem(problem)}\n`).join('');
  return `${lines}tailrace: the configuration has ${plural(problems.length, 'problem')}; the one before stays in force\n`;
}

function describeFailure({ error, fix }: { readonly error: string; readonly fix?: string | undefined }): string {
  return `tailrace: cannot take the configuration into force: ${error}\n${fix === undefined ? '' : `  fix: ${fix}\n`}`;
}
