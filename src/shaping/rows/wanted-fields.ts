/**
 * The fields of events that transforms count on: those that `where` compares, and those that a step hides or removes. A misspelt name is no
 * mistake to the compiler, which knows no events.
 */
import type { TransformConfig } from '../../config/values.ts';
import type { Node, QueryStage } from '../../language/plan/tree.ts';
import { readTransform } from '../../language/text/transform-text.ts';
import { topLevelNames } from './values/paths.ts';
import { callsOf, expressionsOf, HIDING } from './walk.ts';

export interface WantedField {
  readonly name: string;
  /** The transform's place in the configuration, and that of the step in its text. */
  readonly path: string;
  readonly index: number;
  /** It may have been meant as a text, as `debug` in `level != debug`. */
  readonly mayBeText: boolean;
  /** A step before makes it. */
  readonly isMade: boolean;
}

/** Functions that are there for fields which an event may not have. */
const ASKING = ['isnull', 'isnotnull', 'isempty', 'isnotempty', 'coalesce', 'column_ifexists'];
const JOINING: ReadonlySet<string> = new Set(['and', 'or', 'not']);

/** For transforms in the order in which they run, up to a script, which may make any field. */
export function wantedFields(transforms: readonly TransformConfig[]): WantedField[] {
  const wanted: WantedField[] = [];
  const optional = new Set<string>();
  const made = new Set<string>();
  for (const transform of transforms) {
    if (transform.kind === 'script') break;
    for (const { at, stages } of readTransform(transform.text).steps) {
      for (const stage of stages) {
        for (const { name, isArgument } of wantedBy(stage)) {
          const isMade = topLevelNames(name).some((each) => made.has(each));
          wanted.push({ name, path: transform.path, index: at, mayBeText: isArgument, isMade });
        }
        for (const { name } of expressionsOf(stage).flatMap((node) => argumentsOf(node, ASKING))) optional.add(name);
        for (const name of madeBy(stage)) made.add(name);
      }
    }
  }
  return wanted.filter(({ name }) => !optional.has(name));
}

interface Mention {
  readonly name: string;
  /** Behind the first argument of an operator or function. */
  readonly isArgument: boolean;
}

function wantedBy(stage: QueryStage): Mention[] {
  switch (stage.kind) {
    case 'where':
      return columnsOf(stage.condition);
    case 'remove':
      return stage.names.flatMap(({ text, prefix }) => (prefix ? [] : [{ name: text, isArgument: false }]));
    default:
      return expressionsOf(stage).flatMap((node) => argumentsOf(node, [...HIDING]));
  }
}

function madeBy(stage: QueryStage): string[] {
  switch (stage.kind) {
    case 'extend':
    case 'project':
      return stage.columns.map(({ name }) => name);
    case 'expand':
      return [...stage.columns.map(({ name }) => name), ...(stage.index === undefined ? [] : [stage.index])];
    case 'rename':
      return stage.pairs.map(({ to }) => to);
    default:
      return [];
  }
}

function argumentsOf(node: Node, functions: readonly string[]): Mention[] {
  return functions.flatMap((name) => callsOf(node, name)).flatMap((args) => args.flatMap((arg) => columnsOf(arg)));
}

function columnsOf(node: Node, isArgument = false): Mention[] {
  if (node.kind === 'column') return [{ name: node.name, isArgument }];
  if (node.kind === 'item')
    return [node.object, ...(typeof node.key === 'object' ? [node.key] : [])].flatMap((part) => columnsOf(part));
  if (node.kind !== 'apply') return [];
  return node.args.flatMap((arg, n) => columnsOf(arg, n > 0 && !JOINING.has(node.spec.name)));
}
