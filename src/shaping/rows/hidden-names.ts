/** The fields that transforms hide, or keep where others go, by name. */
import type { TransformConfig } from '../../config/values.ts';
import { callsIn, matchesPattern, type NamePattern, type QueryStage } from '../../language/plan/tree.ts';
import { readTransform } from '../../language/text/transform-text.ts';
import { EACH } from '../../language/syntax/tree.ts';
import { pathsOf } from './moves.ts';
import { expressionsOf, HIDING } from './walk.ts';

/** In a path: one item of a list. */
const ITEM = /\[\d+\]/g;

export interface HiddenName {
  /** As it is written, with its `*`. */
  readonly name: string;
  /** The transform's place in the configuration, and that of the step in its text. */
  readonly path: string;
  readonly index: number;
  /** The name is meant, but written in another case. */
  isOtherCase(name: string): boolean;
}

/** The names that checked transforms hide; a script may hide others. */
export function hiddenNames(transforms: readonly TransformConfig[]): HiddenName[] {
  return transforms.flatMap((transform) => {
    if (transform.kind === 'script') return [];
    const { steps } = readTransform(transform.text);
    return steps.flatMap(({ at, stages }) =>
      stages.flatMap(namesHiddenBy).map((pattern) => hiddenName(pattern, transform.path, at)),
    );
  });
}

function hiddenName(pattern: NamePattern, path: string, index: number): HiddenName {
  const folded = { ...pattern, text: pattern.text.toLowerCase() };
  const isOtherCase = (name: string): boolean =>
    matchesPattern(folded, name.toLowerCase()) && !matchesPattern(pattern, name);
  return { name: pattern.prefix ? `${pattern.text}*` : pattern.text, path, index, isOtherCase };
}

export function namesHiddenBy(stage: QueryStage): readonly NamePattern[] {
  if (stage.kind === 'remove' || stage.kind === 'keep') return stage.names;
  const calls = expressionsOf(stage).flatMap((node) => callsIn(node, (name) => HIDING.has(name)));
  const paths = calls.flatMap(({ args: [text] }) => (text ? pathsOf(text) : []));
  return paths.map((path) => ({ text: path.replaceAll(ITEM, EACH), prefix: false }));
}
