/** Arguments of the commands that work on a configuration's data folder. */
import { findConfig } from '../../config/load/find.ts';
import { loadWithoutSecrets } from '../../config/load/load.ts';
import type { Config } from '../../config/model.ts';
import type { ArgumentsOf } from '../options/command-options.ts';

export type ConfigArguments = ArgumentsOf<'reload'>;

/** Loads the configuration without its secrets. Throws `ConfigError`, or `UsageError` if no file is found. */
export function configOf({ config }: ConfigArguments): Config {
  return loadWithoutSecrets(findConfig(config), process.env);
}
