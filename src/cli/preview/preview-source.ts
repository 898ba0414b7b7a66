/** Which source and sink of which configuration a preview takes. */
import { resolve } from 'node:path';
import { loadRunnable } from '../../agent/build/check-transforms.ts';
import { findConfig } from '../../config/load/find.ts';
import { loadConfigText } from '../../config/load/load.ts';
import type { Config, SinkConfig, SourceConfig } from '../../config/model.ts';
import { suggest } from '../../config/nearest.ts';
import { PRESET_NAMES } from '../../config/presets/preset.ts';
import { codeOf, UsageError } from '../../core/errors.ts';
import { compileInclude } from '../../sources/file/scan/glob.ts';

export interface PreviewTarget {
  readonly config: Config;
  readonly source: SourceConfig;
  readonly sink: SinkConfig;
}

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
  if (preset !== undefined) {
    if (PRESET_NAMES.includes(preset)) return defaultsWith(`preset: ${preset}`);
    throw new UsageError('E_PREVIEW', `there is no preset "${preset}"`, { fix: suggest(preset, PRESET_NAMES) });
  }
  try {
    return await loadRunnable(findConfig(config), process.env, { leavesSecrets: true });
  } catch (error) {
    if (codeOf(error) !== 'E_NO_CONFIG' || source !== undefined || sink !== undefined) throw error;
    return defaultsWith('format: auto');
  }
}

/** The defaults of every key, and one of the source's own. */
function defaultsWith(key: string): Config {
  const source = `sources: {preview: {type: file, include: [/dev/stdin], ${key}}}`;
  return loadConfigText(`${source}\nsinks: {preview: {type: ingest, url: "http://127.0.0.1:4100", dataset: preview}}`, process.env);
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
