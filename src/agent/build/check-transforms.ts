/** Compiles the transforms of a configuration to find out whether they would run; nothing is shaped. */
import type { ConfigProblem } from '../../config/config-error.ts';
import { ConfigError } from '../../config/config-error.ts';
import { type ReadConfig, readConfig } from '../../config/load/load.ts';
import type { Config } from '../../config/model.ts';
import { printable } from '../../config/quote.ts';

/** Their problems, each at its place: in the configuration, or in a script. With `leavesSecrets` the keys of `hash` need not be there. */
export async function checkTransforms(
  read: ReadConfig,
  env: NodeJS.ProcessEnv,
  { leavesSecrets = false } = {},
): Promise<ConfigProblem[]> {
  const problems: ConfigProblem[] = [];
  if (read.transforms.length === 0) return problems;
  const { compileTransform, TransformProblems } = await import('../../shaping/transforms.ts');
  for (const transform of read.transforms) {
    try {
      const compiled = await compileTransform(transform);
      await compiled.close();
      for (const { variable, index } of leavesSecrets ? [] : compiled.hashKeys) {
        if (env[variable]) continue;
        const message = `the environment variable \`${variable}\` with the key of \`hash\` is not set`;
        problems.push({
          ...read.locateIn(transform.path, index),
          message,
          fix: `set ${variable}, or use secret_file("/path")`,
        });
      }
    } catch (error) {
      if (!(error instanceof TransformProblems)) throw error;
      for (const { message, fix, index, script } of error.problems) {
        const place =
          script ?? (index === undefined ? read.locate(transform.path) : read.locateIn(transform.path, index));
        problems.push({ ...place, message: printable(message), fix: fix && printable(fix) });
      }
    }
  }
  return problems;
}

/**
 * Reads a configuration that is to be run, or with `leavesSecrets` only inspected. Throws `ConfigError` with all problems, those of
 * its transforms included.
 */
export async function loadRunnable(file: string, env: NodeJS.ProcessEnv, options = {}): Promise<Config> {
  return (await readRunnable(file, env, options)).config;
}

/** The same, with the places of its keys. */
export async function readRunnable(
  file: string,
  env: NodeJS.ProcessEnv,
  { leavesSecrets = false } = {},
): Promise<{ readonly config: Config } & Pick<ReadConfig, 'locate' | 'presets'>> {
  const read = readConfig(file, env, { leavesSecrets });
  const problems = [...read.problems, ...(await checkTransforms(read, env, { leavesSecrets }))];
  if (!read.config || problems.length > 0) throw new ConfigError(read.order(problems));
  return { config: read.config, locate: (path) => read.locate(path), presets: read.presets };
}
