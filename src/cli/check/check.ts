/**
 * `tailrace check`: reports whether the configuration would run, and every problem with its place. Changes nothing, and
 * uses the network only with `--online`.
 */
import { styleText } from 'node:util';
import type { ConfigProblem } from '../../config/config-error.ts';
import { findConfig } from '../../config/load/find.ts';
import { type ReadConfig, readConfig } from '../../config/load/load.ts';
import { printable } from '../../config/quote.ts';
import type { Config } from '../../config/model.ts';
import { UsageError } from '../../core/errors.ts';
import { checkMachine, type Locate } from './check-machine.ts';
import { plural } from '../output/say.ts';
import type { ArgumentsOf } from '../options/command-options.ts';

/** Where the answer goes; a test gives its own. */
export interface CheckOutput {
  readonly out: (line: string) => void;
  readonly error: (line: string) => void;
  /** The error side is a terminal that shows colours. */
  readonly colours: boolean;
}

interface Findings {
  /** As it was named, or found. */
  readonly file: string;
  readonly config: Config | undefined;
  readonly problems: ConfigProblem[];
  readonly warnings: ConfigProblem[];
  readonly locate: Locate;
}

/** Resolves with the exit code: 0 when it would run, 2 when there are problems, 1 when only a service has any. */
export async function check(args: ArgumentsOf<'check'>, output: CheckOutput = processOutput()): Promise<number> {
  const findings = await examine(args.config);
  const isValid = findings.problems.length === 0;
  if (args.online === true && isValid && findings.config !== undefined) {
    const { checkOnline } = await import('./check-online.ts');
    for (const { path, message, fix, isWarning = false } of await checkOnline(findings.config))
      findings[isWarning ? 'warnings' : 'problems'].push({ ...findings.locate(path), message, fix });
  }
  if (args.json === true) printJson(findings, output);
  else printReadable(findings, isValid, args.online === true, output);
  if (findings.problems.length === 0) return 0;
  return isValid ? 1 : 2;
}

async function examine(named: string | undefined): Promise<Findings> {
  let file: string;
  try {
    file = findConfig(named);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const place = { file: 'tailrace.yaml', line: 1, column: 1 };
    const problem = { ...place, message: error.message, fix: error.fix };
    return { file: place.file, config: undefined, problems: [problem], warnings: [], locate: () => place };
  }
  const read = readConfig(file, process.env);
  const locate: Locate = (path) => read.locate(path);
  const { checkTransforms } = await import('../../agent/build/check-transforms.ts');
  const transforms = await checkTransforms(read, process.env);
  if (read.config === undefined) {
    const problems = read.order([...read.problems, ...transforms]);
    return { file, config: undefined, problems, warnings: [...read.warnings], locate };
  }
  const machine = await checkMachine(read.config, locate);
  const problems = read.order([...machine.problems, ...transforms]);
  const samples = problems.length === 0 ? await checkEvents(read.config, read) : [];
  return { file, config: read.config, problems, warnings: [...read.warnings, ...machine.warnings, ...samples], locate };
}

/** What the first events of files and the inputs of tests show. */
async function checkEvents(config: Config, read: Pick<ReadConfig, 'locate' | 'locateIn'>): Promise<ConfigProblem[]> {
  const { CaseChecks } = await import('./check-cases.ts');
  const { checkSamples } = await import('./check-samples.ts');
  const cases = new CaseChecks();
  const samples = await checkSamples(config, read, cases);
  await cases.addTests(config, read);
  return [...samples, ...cases.warnings];
}

function printJson({ file, config, problems, warnings }: Findings, { out }: CheckOutput): void {
  const found = config === undefined ? {} : { file, sources: config.sources.length, sinks: config.sinks.length };
  out(JSON.stringify({ ok: problems.length === 0, ...found, problems, warnings }));
}

function printReadable(
  { file: named, config, problems, warnings }: Findings,
  isValid: boolean,
  isOnline: boolean,
  { out, error, colours }: CheckOutput,
): void {
  const paint = (style: 'red' | 'yellow' | 'bold', text: string) =>
    colours ? styleText(style, text, { validateStream: false }) : text;
  const say = ({ file, line, column, message, fix }: ConfigProblem, mark: string) => {
    error(`${paint('bold', `${printable(file)}:${line}:${column}:`)} ${mark}${printable(message)}`);
    if (fix !== undefined) error(`  ${printable(fix)}`);
  };
  for (const warning of warnings) say(warning, `${paint('yellow', 'warning:')} `);
  for (const problem of problems) say(problem, colours ? paint('red', 'error: ') : '');
  if (problems.length > 0)
    error(`${plural(problems.length, 'problem')}: the configuration would not ${isValid ? 'deliver' : 'run'}`);
  else if (config !== undefined) {
    const sources = `${plural(config.sources.length, 'source')} (${config.sources.map(({ id }) => id).join(', ')})`;
    const sinks = `${plural(config.sinks.length, 'sink')} (${config.sinks.map(({ id }) => id).join(', ')})`;
    const answer = isOnline && warnings.length === 0 ? '; every service takes its events' : '';
    out(`${printable(named)} is valid: would run ${sources} and ${sinks}${answer}`);
  }
}

function processOutput(): CheckOutput {
  return {
    out: (line) => process.stdout.write(`${line}\n`),
    error: (line) => process.stderr.write(`${line}\n`),
    colours: process.stderr.isTTY && !process.env['NO_COLOR'],
  };
}
