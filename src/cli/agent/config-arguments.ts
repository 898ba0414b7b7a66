/** What the commands share that work on the data folder of a configuration. */
import { findConfig } from '../../config/load/find.ts';
import { loadWithoutSecrets } from '../../config/load/load.ts';
import type { Config } from '../../config/model.ts';

export interface ConfigArguments {
  readonly config?: string;
  readonly json?: boolean;
}

/** The configuration that is meant, without secrets. Throws `ConfigError`, and `UsageError` where there is none. */
export function configOf({ config }: ConfigArguments): Config {
  return loadWithoutSecrets(findConfig(config), process.env);
}
