/** Tests that are nothing but scenarios: see `steps.ts`. */
import { test } from 'vitest';
import { playSteps, type Script, type Value } from './steps.ts';
import { type RigOptions, TailRig } from './tail-rig.ts';

/**
 * A table of such tests, by their names, each on a source of its own that is not started yet. `begin` is played before each. Options of
 * which a source needs its own are made by a function.
 */
export function scenarios(
  table: Readonly<Record<string, Script>>,
  options: RigOptions | (() => RigOptions) = {},
  begin: Script = '',
): void {
  for (const [name, script] of Object.entries(table))
    test(name, async () => {
      const rig = new TailRig(typeof options === 'function' ? options() : options);
      await playSteps(rig, begin);
      await playSteps(rig, script);
    });
}

/** A test that is nothing but a scenario, on a source that is not started yet. */
export function scenario(
  name: string,
  options: RigOptions = {},
): (strings: TemplateStringsArray, ...values: Value[]) => void {
  return (strings, ...values) => test(name, () => playSteps(new TailRig(options), { strings, values }));
}

/** The same for a rotated file that no glob matches, and for one that is read itself; the name has a `%s` for the glob. */
export function scenarioInBothGlobs(
  name: string,
  options: RigOptions = {},
): (strings: TemplateStringsArray, ...values: Value[]) => void {
  return (strings, ...values) =>
    test.for(['*.log', '*.log*'])(name, (glob) => playSteps(new TailRig({ glob, ...options }), { strings, values }));
}
