/** `tailrace init [PATH…]`: looks at real logs and writes a commented configuration that `check` accepts; never over an existing file. */
import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadConfigText } from '../../config/load/load.ts';
import type { Config } from '../../config/model.ts';
import { printableLines } from '../../config/quote.ts';
import { codeOf, messageOf, TailraceError, UsageError } from '../../core/errors.ts';
import type { Proposal, SourceType } from '../../sources/common/source-type.ts';
import { SOURCE_TYPES } from '../../sources/registry.ts';
import { flush, write } from '../client/output/print.ts';
import { plural, say } from '../output/say.ts';
import { type Candidates, listCandidates } from './list-candidates.ts';
import { type Plan, plan, type PlannedSource } from './plan.ts';
import { examplesOf, Questions, skippedText, sourceObject, sourceText } from './show.ts';
import { configText, type Destination } from './write-config.ts';
import type { ArgumentsOf } from '../options/command-options.ts';

interface Described {
  readonly source: PlannedSource;
  readonly examples: readonly string[];
}

/** The parts of the configuration. */
interface Answers {
  readonly described: readonly Described[];
  /** Sources that are no files. */
  readonly proposed: readonly Proposal[];
  readonly to: Destination;
}

/** Resolves with 0 once it is written, 1 where there is nothing to ship. Throws `TailraceError`. */
export async function init(paths: readonly string[], args: ArgumentsOf<'init'>): Promise<number> {
  const file = args.out ?? 'tailrace.yaml';
  const isTerminal = process.stdin.isTTY && process.stderr.isTTY && args.json !== true;
  if (args.yes !== true && !isTerminal)
    throw new UsageError('E_INIT', 'there is no terminal to ask on', { fix: 'add --yes to take every suggestion' });
  if (existsSync(file)) throw alreadyThere(file);
  const defaults: Destination = destinationOf(args, file);
  say('looking for logs …');
  const found = listCandidates(paths);
  const planned = await plan(found);
  // Report wrong options before asking anything.
  const described = await describe(planned, configOf(planned.sources, defaults), found.open);
  const proposed = Object.values(SOURCE_TYPES).flatMap((type: SourceType) => type.propose?.(paths, found.files) ?? []);
  if (described.length === 0 && proposed.length === 0) return sayNothing(planned, found, args);
  const offered: Answers = { described, proposed, to: defaults };
  const answers = args.yes === true ? offered : await ask(offered, planned, found, args);
  const chosen = answers.described.map(({ source }) => source);
  if (chosen.length === 0 && answers.proposed.length === 0)
    throw new TailraceError('E_INIT', 'no source was chosen: nothing was written');
  const text = configText(chosen, answers.to, answers.proposed);
  loadConfigText(text, process.env);
  writeNew(file, text);
  if (args.json === true) await write(`${JSON.stringify(reportOf(file, answers, planned, found))}\n`);
  else {
    const texts = [
      ...described.map(({ source, examples }) => sourceText(source, examples)),
      ...proposed.map((each) => each.text),
    ];
    if (args.yes === true) await write(`${texts.join('\n')}${skippedText(planned, found)}`);
    await write(printableLines(nextSteps(file, chosen.length, answers)));
  }
  await flush();
  return 0;
}

function destinationOf({ url, dataset, tokenFile }: ArgumentsOf<'init'>, file: string): Destination {
  return {
    url: url ?? 'http://127.0.0.1:4100',
    dataset: dataset ?? 'logs',
    tokenFile: tokenFile === undefined ? undefined : resolve(tokenFile),
    dataDir: resolve(file).startsWith('/etc/') ? '/var/lib/tailrace' : undefined,
  };
}

function configOf(sources: readonly PlannedSource[], to: Destination): Config | undefined {
  return sources.length === 0 ? undefined : loadConfigText(configText(sources, to), process.env);
}

async function describe({ sources }: Plan, config: Config | undefined, open: Candidates['open']): Promise<Described[]> {
  const described: Described[] = [];
  for (const source of sources)
    described.push({ source, examples: config ? await examplesOf(config, source, open) : [] });
  return described;
}

async function sayNothing(planned: Plan, found: Candidates, { json }: ArgumentsOf<'init'>): Promise<number> {
  if (json === true)
    await write(`${JSON.stringify(reportOf(undefined, { described: [], proposed: [] }, planned, found))}\n`);
  else await write(skippedText(planned, found));
  await flush();
  say(
    'tailrace: found no logs that could be shipped; nothing was written',
    '  fix: name files, or folders that hold some: tailrace init /path/to/logs',
  );
  return 1;
}

async function ask(
  offered: Answers,
  planned: Plan,
  found: Candidates,
  { url, dataset }: ArgumentsOf<'init'>,
): Promise<Answers> {
  const { to: defaults } = offered;
  const questions = new Questions();
  try {
    const chosen: Described[] = [];
    let takesAll = false;
    for (const each of offered.described) {
      await write(`\n${sourceText(each.source, each.examples)}`);
      const answer: 'yes' | 'no' | 'all' = takesAll
        ? 'all'
        : await questions.choose('Ship it? [Y]es, [n]o, [a]ll that follow, [q]uit: ', ['yes', 'no', 'all']);
      takesAll = answer === 'all';
      if (answer !== 'no') chosen.push(each);
    }
    const proposed: Proposal[] = [];
    for (const each of offered.proposed) {
      await write(`\n${each.text}`);
      if (takesAll || (await questions.choose('Ship it? [Y]es, [n]o, [q]uit: ', ['yes', 'no'])) === 'yes')
        proposed.push(each);
    }
    await write(`\n${skippedText(planned, found)}`);
    if (chosen.length === 0 && proposed.length === 0) return { described: [], proposed, to: defaults };
    const to = {
      ...defaults,
      url: url ?? (await questions.ask(`Address of the service [${defaults.url}]: `, defaults.url)),
      dataset: dataset ?? (await questions.ask(`Dataset [${defaults.dataset}]: `, defaults.dataset)),
    };
    return { described: chosen, proposed, to };
  } finally {
    questions.close();
  }
}

/** Never overwrites a file, even one created since the check. */
function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx' });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw alreadyThere(file);
    throw new TailraceError('E_INIT', `cannot write "${file}": ${messageOf(error)}`, {
      fix: 'name a file in a folder that you may write with --out',
      cause: error,
    });
  }
}

function alreadyThere(file: string): UsageError {
  return new UsageError('E_INIT', `"${file}" is there already, and init writes over no file`, {
    fix: 'name another with --out, or remove it',
  });
}

function reportOf(
  file: string | undefined,
  { described, proposed }: Omit<Answers, 'to'>,
  { skipped, unlike }: Plan,
  found: Candidates,
): object {
  return {
    ...(file === undefined ? {} : { file }),
    sources: described.map(({ source, examples }) => sourceObject(source, examples)),
    ...Object.fromEntries(proposed.map(({ id }) => [id, { source: id }])),
    skipped: [...found.skipped, ...skipped].map(({ path, reason, fix }) => ({ path, reason, fix })),
    rotated: found.rotated,
    unlike,
  };
}

function nextSteps(file: string, files: number, { proposed, to: { tokenFile } }: Answers): string {
  const config = file === 'tailrace.yaml' ? '' : ` --config ${file}`;
  const steps = [
    ...(tokenFile === undefined ? ['export TAILRACE_TOKEN=…     # the ingest token of your service'] : []),
    `tailrace check${config}`,
    `tailrace run${config}`,
  ];
  return `\nwrote ${file} with ${plural(files + proposed.length, 'source')}. Next:\n${steps.map((step) => `  ${step}\n`).join('')}`;
}
