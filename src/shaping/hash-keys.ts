/** The environment variables that hold the keys of `hash` in a pipeline, with the places where they are named. */
import type { RowProgram } from './rows/program.ts';
import { callsOf, expressionsOf } from './rows/walk.ts';

export interface HashKey {
  readonly variable: string;
  /** In the pipeline's text. */
  readonly index: number;
}

export function hashKeysOf({ steps }: RowProgram): HashKey[] {
  const calls = steps.flatMap(({ stages }) => stages.flatMap(expressionsOf)).flatMap((node) => callsOf(node, 'hash'));
  return calls.flatMap(([, key]) => {
    const [name] = key?.kind === 'apply' && key.spec.name === 'env' ? key.args : [];
    return key?.kind === 'apply' && name?.kind === 'constant' ? [{ variable: String(name.constant.value), index: key.at }] : [];
  });
}
