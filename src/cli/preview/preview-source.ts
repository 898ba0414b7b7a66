/** Which source and sink of which configuration a preview takes. */
import { resolve } from 'node:path';
import { loadRunnable } from '../../agent/build/check-transforms.ts';
import { findConfig } from '../../config/load/find.ts';
import type { Config } from '../../config/model.ts';
import { suggest } from '../../config/nearest.ts';
import { codeOf, UsageError } from '../../core/errors.ts';
import { compileInclude } from '../../sources/file/scan/glob.ts';
import { findOwnPresets, presetTarget, type PreviewTarget, targetWith } from './preset-target.ts';

interface Wanted {
  readonly config?: string | undefined;
  readonly source?: string | undefined;
  readonly sink?: string | undefined;
  readonly preset?: string | undefined;
}

/** Throws `ConfigError`, and `UsageError` where the source is not clear. */
export async function choosePreview(wanted: Wanted, files: readonly string[]): Promise<PreviewTarget> {
  const config = await readConfigOf(wanted);
  const source = wanted.source === undefined ? guessSource(config, files) : findById('source', config.sources, wanted.source);
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
function guessSource({ sources }: Config, files: readonly string[]): Config['sources'][number] {
  const paths = files.map((file) => resolve(file));
  const matches = sources.filter(
    (source) =>
      source.type === 'file' &&
      paths.length > 0 &&
      paths.every((path) => source.include.some((pattern) => compileInclude(pattern).matches(path))),
  );
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
