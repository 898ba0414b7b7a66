/** Tests that are nothing but a scenario: see `steps.ts`. */
import { test } from 'vitest';
import { playSteps, type Value } from './steps.ts';
import { type RigOptions, TailRig } from './tail-rig.ts';

/** A test that is nothing but a scenario, on a source that is not started yet. */
export function scenario(name: string, options: RigOptions = {}): (strings: TemplateStringsArray, ...values: Value[]) => void {
  return (strings, ...values) => test(name, () => playSteps(new TailRig(options), strings, values));
}

/** The same for a rotated file that no glob matches, and for one that is read itself; the name has a `%s` for the glob. */
export function scenarioInBothGlobs(name: string, options: RigOptions = {}): (strings: TemplateStringsArray, ...values: Value[]) => void {
  return (strings, ...values) =>
    test.for(['*.log', '*.log*'])(name, (glob) => playSteps(new TailRig({ glob, ...options }), strings, values));
}
