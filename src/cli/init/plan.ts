/** From the files that may be logs to the sources of a configuration, each choice with its reason. */
import { systemClock } from '../../core/time/clock.ts';
import type { Candidate, Candidates } from './list-candidates.ts';
import { SecretFields } from './find-fields.ts';
import { type FileGroup, generalise, globOf, groupByName, separate } from './group-files.ts';
import { type LogFile, lookInto, type NoLog, type OpenPath } from './look-into.ts';
import { recognise, type Recognised } from './recognise.ts';
import { Trials } from './trials.ts';
import { trimEndOf } from '../../core/text/trim-end.ts';

/** Groups of files that are read, and files of each. */
const MAX_GROUPS = 300;
const SAMPLED_FILES = 3;
/** So many neighbours share a glob before they are read, and so many of the same kind afterwards. */
const MANY = 21;
const SOME = 4;
const MAX_SOURCES = 100;
const OLD_MS = 7 * 86_400_000;

export interface PlannedSource {
  readonly id: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly files: readonly string[];
  readonly recognised: Recognised;
  readonly secrets: SecretFields;
  readonly bytes: number;
  /** Files that were not changed for a week. */
  readonly oldFiles: number;
  /** Files whose events are shown for all of them. */
  readonly samples: readonly string[];
  readonly why: string;
}

export interface Plan {
  readonly sources: readonly PlannedSource[];
  readonly skipped: readonly NoLog[];
  /** Files that are like no log: neither their name nor their lines. */
  readonly unlike: number;
}

interface Meta extends Candidate, Pick<LogFile, 'size' | 'mtimeMs'> {}

interface PlannedKind {
  readonly recognised: Recognised;
  readonly secrets: SecretFields;
  readonly samples: readonly string[];
}

export async function plan({ files: candidates, open }: Pick<Candidates, 'files' | 'open'>): Promise<Plan> {
  const files = new Map<string, Meta>();
  const skipped: NoLog[] = [];
  for (const candidate of candidates) {
    const look = lookInto(candidate.path, open);
    if (look.kind === 'log') files.set(look.path, { ...candidate, size: look.size, mtimeMs: look.mtimeMs });
    else if (!candidate.isUnlikely) skipped.push(look);
  }
  const groups = generalise(groupByName([...files.keys()]), MANY, () => '');
  for (const group of groups.slice(MAX_GROUPS))
    skipped.push({
      kind: 'skipped',
      path: globOf(group),
      reason: `more than ${MAX_GROUPS} kinds of names`,
      fix: 'run `tailrace init` with folders',
    });
  const trials = new Trials();
  const kinds = new Map<string, PlannedKind>();
  let unlike = 0;
  const kept: FileGroup[] = [];
  try {
    for (const group of groups.slice(0, MAX_GROUPS)) {
      const kind = await recogniseGroup(group, trials, open);
      const isUnlikely = group.files.every((path) => files.get(path)!.isUnlikely);
      if (!kind || (isUnlikely && !kind.recognised.isSpecific && !kind.recognised.hasOwnTime))
        unlike += group.files.length;
      else {
        kept.push(group);
        for (const path of group.files) kinds.set(path, kind);
      }
    }
  } finally {
    await trials.close();
  }
  const kindOf = ({ files: [first = ''] }: FileGroup): string => settingsOf(kinds.get(first)!.recognised);
  const sources = toSources(generalise(kept, SOME, kindOf), kinds, files);
  for (const { id, include } of sources.slice(MAX_SOURCES))
    skipped.push({
      kind: 'skipped',
      path: include.join(', '),
      reason: `more than ${MAX_SOURCES} sources: ${id} is left out`,
      fix: 'run `tailrace init` with folders',
    });
  return { sources: sources.slice(0, MAX_SOURCES), skipped, unlike };
}

const settingsOf = ({ choices }: Recognised): string => choices.map(({ entry }) => entry).join('\n');

/** By some of its files; where they are of several kinds, each line is taken as it is. */
async function recogniseGroup({ files }: FileGroup, trials: Trials, open: OpenPath): Promise<PlannedKind | undefined> {
  const sampled = [...new Set([0, files.length >> 1, files.length - 1])]
    .slice(0, SAMPLED_FILES)
    .map((at) => files[at]!);
  const secrets = new SecretFields();
  let found: Recognised | undefined;
  const samples: string[] = [];
  for (const path of sampled) {
    const look = lookInto(path, open);
    if (look.kind !== 'log') continue;
    const recognised = await recognise(look, trials);
    samples.push(path);
    if (found && settingsOf(found) !== settingsOf(recognised))
      found = {
        ...recognised,
        name: 'mixed',
        isSpecific: false,
        choices: [{ entry: 'format: auto', reason: 'the files are of several kinds' }],
      };
    else found = recognised;
    const keys = found.choices.map(({ entry }) => entry).join(', ');
    for (const lines of [look.head, look.tail])
      for (const { event } of await trials.run(keys, path, lines)) secrets.add(event);
  }
  return found && { recognised: found, secrets, samples };
}

/** Groups of the same settings are one source: of a program wherever they are, of others by folder. */
function toSources(
  groups: readonly FileGroup[],
  kinds: ReadonlyMap<string, PlannedKind>,
  files: ReadonlyMap<string, Meta>,
): PlannedSource[] {
  const bySettings = new Map<string, { readonly name: string; readonly groups: FileGroup[] }>();
  for (const group of groups) {
    const { recognised } = kinds.get(group.files[0]!)!;
    const name = recognised.isSpecific ? recognised.name : appOf(group);
    const key = `${name}\0${settingsOf(recognised)}`;
    const known = bySettings.get(key);
    if (known) known.groups.push(group);
    else bySettings.set(key, { name, groups: [group] });
  }
  const ids = new Set<string>();
  const all = [...bySettings.values()];
  const patterns = separate(
    all.map(({ groups: own }) => ({ include: own.map(globOf), files: own.flatMap((group) => group.files) })),
  );
  return all.map(({ name, groups: own }, index) => {
    const paths = own.flatMap((group) => group.files);
    const metas = paths.map((path) => files.get(path)!);
    const secrets = new SecretFields();
    for (const kind of new Set(paths.map((path) => kinds.get(path)!))) secrets.merge(kind.secrets);
    return {
      id: uniqueId(name, ids),
      ...patterns[index]!,
      files: paths,
      recognised: kinds.get(paths[0]!)!.recognised,
      secrets,
      bytes: metas.reduce((sum, { size }) => sum + size, 0),
      oldFiles: metas.filter(({ mtimeMs, isNamed }) => !isNamed && systemClock.now() - mtimeMs > OLD_MS).length,
      samples: own.flatMap((group) => kinds.get(group.files[0]!)!.samples).slice(0, SAMPLED_FILES),
      why: metas[0]!.why,
    };
  });
}

/** The folder's name, or that of the file where the folder's says nothing. */
function appOf({ parts }: FileGroup): string {
  const folder = parts.at(-2) ?? '';
  const stem = (parts.at(-1) ?? '').replace(/\.[^.]*$/, '');
  return /^(?:logs?|var|tmp|srv|opt|\*|)$/.test(folder) || parts.length < 3 ? stem : folder;
}

function uniqueId(name: string, ids: Set<string>): string {
  const word = name.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replace(/^-+/, '');
  const base = trimEndOf(word, '-').slice(0, 50) || 'logs';
  let id = base;
  for (let n = 2; ids.has(id); n++) id = `${base}-${n}`;
  ids.add(id);
  return id;
}
