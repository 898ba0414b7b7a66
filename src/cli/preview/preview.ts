/** `tailrace preview [FILE…]`: lines as the events they would become. Sends nothing, moves no checkpoint, needs no token. */
import { Previewer, type PreviewedEvent } from '../../agent/preview/previewer.ts';
import type { CaseNames } from '../../agent/preview/case-names.ts';
import type { StepCounts } from '../../agent/preview/step-counts.ts';
import type { Config } from '../../config/model.ts';
import type { TransformConfig } from '../../config/values.ts';
import type { JsonValue } from '../../core/block.ts';
import { TailraceError, UsageError, codeOf } from '../../core/errors.ts';
import { systemClock } from '../../core/time/clock.ts';
import { nodeFileSystem, statIfAny } from '../../sources/file/scan/file-system.ts';
import { ListedPrivateFiles } from '../../sources/file/scan/private-files.ts';
import { flush, write } from '../client/output/print.ts';
import { say } from '../output/say.ts';
import { toDiff, toJsonLine, toText } from './preview-output.ts';
import { type PreviewTarget, findOwnPresets, presetTarget, targetWith } from './preset-target.ts';
import { PreviewStats } from './preview-stats.ts';
import type { Log } from '../../core/log.ts';
import type { ArgumentsOf } from '../options/command-options.ts';
import { resolve } from 'node:path';
import { loadRunnable } from '../../agent/build/check-transforms.ts';
import { findConfig } from '../../config/load/find.ts';
import { suggest } from '../../config/nearest.ts';
import { sourceTypeOf, type SourceConfig } from '../../sources/registry.ts';

/** Resolves with 0; with 1 where an input could not be read to its end. Throws `TailraceError`. */
export async function preview(files: readonly string[], args: ArgumentsOf<'preview'>): Promise<number> {
  if (args.stats && args.diff)
    throw new UsageError('E_PREVIEW', '--stats prints counts alone, so --diff has no effect', { fix: 'leave one out' });
  if (args.preset !== undefined && (args.source ?? args.sink) !== undefined)
    throw new UsageError('E_PREVIEW', '--preset stands for a source without a configuration', {
      fix: 'leave out --source and --sink, or set the preset on a source of the configuration',
    });
  const target = await choosePreview(args, files);
  for (const file of files) refusePrivate(file, target);
  const steps = args.stats ? await countSteps(target) : undefined;
  const stats = args.stats ? new PreviewStats(target, steps) : undefined;
  let hasFailed = false;
  const show = (event: PreviewedEvent): Promise<void> => {
    if (args.json) return write(toJsonLine(event, args.diff === true));
    return write(args.diff ? toDiff(event) : toText(event));
  };
  const cases = await caseNames(target);
  const previewer = await Previewer.create({
    ...target,
    log: createPreviewLog(() => (hasFailed = true)),
    record(event) {
      if (event.before !== undefined) cases?.look(JSON.parse(event.before) as Record<string, JsonValue>);
      return stats ? stats.add(event) : show(event);
    },
  });
  try {
    if (files.length === 0) {
      if (process.stdin.isTTY)
        say(
          `tailrace: type or paste lines of source "${target.source.id}", then Ctrl-D; or name files: tailrace preview FILE…`,
        );
      await previewer.read();
    }
    for (const file of files) await previewer.read(file === '-' ? undefined : file);
  } finally {
    await previewer.close();
    await steps?.close();
  }
  if (stats)
    await write(args.json ? `${JSON.stringify(stats.toObject(previewer.counts))}\n` : stats.toText(previewer.counts));
  await flush();
  for (const { message, fix } of cases?.warnings ?? []) say(`tailrace: warning: ${message}; ${fix}`);
  return hasFailed ? 1 : 0;
}

/** Throws `TailraceError` where no source would read the file, whatever its patterns. */
function refusePrivate(file: string, { config }: PreviewTarget): void {
  const stat = file === '-' ? undefined : statIfAny(nodeFileSystem, file);
  const privateFiles = new ListedPrivateFiles(() => config, systemClock);
  privateFiles.refresh();
  const what = stat && privateFiles.whatIs(stat, nodeFileSystem.realPath(file) ?? file);
  if (what !== undefined)
    throw new TailraceError('E_PREVIEW', `"${file}" is ${what}, which is never read as a log`, {
      fix: 'name a log file',
    });
}

const transformsOf = ({ config, source, sink }: PreviewTarget): TransformConfig[] =>
  [source.transform, config.transform, sink.transform].filter((each) => each !== undefined);

/** Undefined where there are no transforms. */
async function caseNames(target: PreviewTarget): Promise<CaseNames | undefined> {
  const transforms = transformsOf(target);
  return transforms.length === 0
    ? undefined
    : new (await import('../../agent/preview/case-names.ts')).CaseNames(transforms);
}

/** Undefined where there are no transforms. */
async function countSteps(target: PreviewTarget): Promise<StepCounts | undefined> {
  const transforms = transformsOf(target);
  return transforms.length === 0
    ? undefined
    : (await import('../../agent/preview/step-counts.ts')).StepCounts.create(transforms);
}

/** Logs warnings and errors to stderr, with the reason; `failed` is called for each error. */
function createPreviewLog(failed: () => void): Log {
  const tell = (fields: object, message: string): void => {
    const reason = 'reason' in fields && typeof fields.reason === 'string' ? `: ${fields.reason}` : '';
    say(`tailrace: ${message}${reason}`);
  };
  return {
    debug() {},
    info() {},
    warn: tell,
    error(fields, message) {
      failed();
      tell(fields, message);
    },
  };
}

interface Wanted {
  readonly config?: string | undefined;
  readonly source?: string | undefined;
  readonly sink?: string | undefined;
  readonly preset?: string | undefined;
}

/** Throws `ConfigError`, and `UsageError` where the source is not clear. */
async function choosePreview(wanted: Wanted, files: readonly string[]): Promise<PreviewTarget> {
  const config = await readConfigOf(wanted);
  const source =
    wanted.source === undefined ? await guessSource(config, files) : findById('source', config.sources, wanted.source);
  const fed = config.sinks.filter(({ inputs }) => inputs.includes(source.id));
  const sink = wanted.sink === undefined ? (fed[0] ?? config.sinks[0]!) : findById('sink', config.sinks, wanted.sink);
  return { config, source, sink };
}

async function readConfigOf({ config, source, sink, preset }: Wanted): Promise<Config> {
  if (preset !== undefined) return presetTarget(preset, findOwnPresets(config)).config;
  try {
    return await loadRunnable(findConfig(config), process.env, { leavesSecrets: true });
  } catch (error) {
    if (codeOf(error) !== 'E_NO_CONFIG' || source !== undefined || sink !== undefined) throw error;
    return targetWith('format: auto').config;
  }
}

/** The only one, or the only one whose files these are. */
async function guessSource({ sources }: Config, files: readonly string[]): Promise<SourceConfig> {
  const paths = files.map((file) => resolve(file));
  const matches: SourceConfig[] = [];
  for (const source of sources) {
    let leads = paths.length > 0;
    for (const path of paths) leads &&= (await sourceTypeOf(source).files?.matches(source, path)) ?? false;
    if (leads) matches.push(source);
  }
  const [only, ...others] = matches.length > 0 ? matches : sources;
  if (only && others.length === 0) return only;
  throw new UsageError('E_PREVIEW', 'it is not clear which source the lines are for', {
    fix: `name one with --source: ${sources.map(({ id }) => id).join(', ')}`,
  });
}

function findById<T extends { readonly id: string }>(what: string, all: readonly T[], id: string): T {
  const found = all.find((each) => each.id === id);
  if (found) return found;
  const ids = all.map((each) => each.id);
  throw new UsageError('E_PREVIEW', `the configuration has no ${what} "${id}"`, { fix: suggest(id, ids) });
}
