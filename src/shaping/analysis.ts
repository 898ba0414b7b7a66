/**
 * What of a pipeline can be done on the bytes of an event, without a value of it: comparisons of top-level fields with literals, removing,
 * renaming, and adding constants. A pure function of the typed tree, which also says for every other step why it needs values.
 */
import type { Node } from '../language/plan/tree.ts';
import type { ProgramStep } from './rows/program.ts';

export type ByteOperator = '==' | '!=' | '<' | '<=' | '>' | '>=';

export type ByteCondition =
  | { readonly kind: 'test'; readonly field: string; readonly operator: ByteOperator; readonly literal: string | bigint | number | boolean }
  | { readonly kind: 'and' | 'or'; readonly parts: readonly ByteCondition[] };

export type ByteStep =
  /** Leaves out what does not meet it. */
  | { readonly kind: 'compare'; readonly condition: ByteCondition }
  /** `name` may have dots: nested, or one key. */
  | { readonly kind: 'remove'; readonly name: string }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'add'; readonly name: string; readonly json: string };

/** A step as byte operations, or why it needs values of the event. */
export type StepPlan = { readonly bytes: readonly ByteStep[] } | { readonly why: string };

/** One plan for each step, in their order. */
export function planSteps(steps: readonly Pick<ProgramStep, 'stages'>[]): StepPlan[] {
  return steps.map(({ stages }) => {
    try {
      return { bytes: stages.flatMap(bytesOfStage) };
    } catch (error) {
      if (error instanceof NeedsValues) return { why: error.message };
      throw error;
    }
  });
}

class NeedsValues extends Error {}

const FLIPPED: Readonly<Record<ByteOperator, ByteOperator>> = { '==': '==', '!=': '!=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' };

function bytesOfStage(stage: ProgramStep['stages'][number]): ByteStep[] {
  switch (stage.kind) {
    case 'where':
      return [{ kind: 'compare', condition: conditionOf(stage.condition) }];
    case 'extend':
      return stage.columns.map(({ name, node }) => ({ kind: 'add', name: topLevel(name), json: jsonOf(literalOf(node)) }));
    case 'remove':
      return stage.names.map(({ text, prefix }) => {
        if (prefix) throw new NeedsValues(`\`${text}*\` may be any field`);
        return { kind: 'remove', name: text };
      });
    case 'rename':
      return stage.pairs.map(({ from, to }) => ({ kind: 'rename', from: topLevel(from), to: topLevel(to) }));
    default:
      throw new NeedsValues(`\`${stage.kind}\` looks at every field`);
  }
}

function conditionOf(node: Node): ByteCondition {
  if (node.kind !== 'apply') throw new NeedsValues('the condition is no comparison');
  const { name } = node.spec;
  if (name === 'and' || name === 'or') return { kind: name, parts: node.args.map(conditionOf) };
  if (!isOperator(name)) throw new NeedsValues(`\`${name}\` computes a value`);
  const [left, right] = node.args;
  if (!left || !right) throw new NeedsValues(`\`${name}\` lacks a side`);
  return left.kind === 'column'
    ? { kind: 'test', field: fieldOf(left), operator: name, literal: literalOf(right) }
    : { kind: 'test', field: fieldOf(right), operator: FLIPPED[name], literal: literalOf(left) };
}

function isOperator(name: string): name is ByteOperator {
  return Object.hasOwn(FLIPPED, name);
}

function fieldOf(node: Node): string {
  // `_time` is a datetime, which has many spellings.
  if (node.kind !== 'column' || node.type !== 'dynamic') throw new NeedsValues('no side of the comparison is a plain field');
  return topLevel(node.name);
}

/** A name with dots may be a key of an object, or one key. */
function topLevel(name: string): string {
  if (name.includes('.')) throw new NeedsValues(`\`${name}\` may be nested`);
  return name;
}

function literalOf(node: Node): string | bigint | number | boolean {
  if (node.kind !== 'constant') throw new NeedsValues('a value is computed of the event');
  const { type, value } = node.constant;
  if (value === null || type === 'dynamic' || type === 'datetime' || type === 'timespan')
    throw new NeedsValues(`a literal of type ${type} has many spellings`);
  return value;
}

function jsonOf(literal: string | bigint | number | boolean): string {
  if (typeof literal === 'number' && !Number.isFinite(literal)) throw new NeedsValues('JSON has no such number');
  return typeof literal === 'bigint' ? String(literal) : JSON.stringify(literal);
}
