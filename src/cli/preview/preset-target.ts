/** A preset as if it stood in a configuration with the default of every other key. */
import { loadConfigText, readConfig } from '../../config/load/load.ts';
import { findConfig } from '../../config/load/find.ts';
import { ConfigError } from '../../config/config-error.ts';
import { suggest } from '../../config/nearest.ts';
import { NO_PRESETS, PRESET_NAMES, type OwnPresets } from '../../config/presets/preset.ts';
import { codeOf, UsageError } from '../../core/errors.ts';
import type { Config, SinkConfig } from '../../config/model.ts';
import { trialSink } from '../../sinks/registry.ts';
import { trialSource, type SourceConfig } from '../../sources/registry.ts';

export interface PreviewTarget {
  readonly config: Config;
  readonly source: SourceConfig;
  readonly sink: SinkConfig;
}

/** Those beside the configuration that is named, or found; none where none is found. Throws `ConfigError`. */
export function findOwnPresets(named: string | undefined): OwnPresets {
  let file: string;
  try {
    file = findConfig(named);
  } catch (error) {
    if (codeOf(error) === 'E_NO_CONFIG') return NO_PRESETS;
    throw error;
  }
  const { presets, problems } = readConfig(file, process.env, { leavesSecrets: true });
  const wrong = problems.filter((problem) => /(?:^|\/)presets\.d\/[^/]+$/.test(problem.file));
  if (wrong.length > 0) throw new ConfigError(wrong);
  return presets;
}

/** Throws `UsageError` where there is no such preset. */
export function presetTarget(name: string, own: OwnPresets): PreviewTarget {
  const names = [...own.keys(), ...PRESET_NAMES];
  if (!names.includes(name))
    throw new UsageError('E_PRESET', `there is no preset "${name}"`, { fix: suggest(name, names) });
  return targetWith(`preset: ${name}`, own);
}

/** The defaults of every key, and some of the source's own. Its sink sends nothing. */
export function targetWith(
  keys: string,
  own: OwnPresets = NO_PRESETS,
  env: NodeJS.ProcessEnv = process.env,
): PreviewTarget {
  const config = loadConfigText(`sources: {preview: ${trialSource(keys)}}\nsinks: {preview: ${trialSink()}}`, env, own);
  return { config, source: config.sources[0]!, sink: config.sinks[0]! };
}
