/**
 * Finds the parts of a pipeline that can run over the bytes of an event, without its values: comparisons of fields with literals, removing,
 * keeping, renaming, and adding constants. A pure function of the typed tree, which also says for every other step why it needs values.
 */
import type { NamePattern, Node } from '../language/plan/tree.ts';
import { EACH } from '../language/syntax/tree.ts';
import { isRedactionKind } from './redact/redact.ts';
import { screenOf, type Screen } from './redact/screens.ts';
import type { ProgramStep } from './rows/program.ts';

export type ByteOperator = '==' | '!=' | '<' | '<=' | '>' | '>=';
export type ByteLiteral = string | number | boolean;

export type ByteCondition =
  /** `field` may have dots: nested, or one key. */
  | { readonly kind: 'test'; readonly field: string; readonly operator: ByteOperator; readonly literal: ByteLiteral }
  | { readonly kind: 'and' | 'or'; readonly parts: readonly ByteCondition[] }
  | { readonly kind: 'not'; readonly part: ByteCondition };

export type ByteStep =
  /** Leaves out what does not meet it. */
  | { readonly kind: 'compare'; readonly condition: ByteCondition }
  /** `name` may have dots. */
  | { readonly kind: 'remove'; readonly name: string }
  /** Other top-level fields go. */
  | { readonly kind: 'keep'; readonly names: readonly string[] }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'add'; readonly name: string; readonly json: string }
  /** Leaves a text as it is where it holds nothing that the screen looks for; other events need values. */
  | { readonly kind: 'screen'; readonly name: string; readonly screen: Screen };

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

const FLIPPED: Readonly<Record<ByteOperator, ByteOperator>> = {
  '==': '==',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

function bytesOfStage(stage: ProgramStep['stages'][number]): ByteStep[] {
  switch (stage.kind) {
    case 'where':
      return [{ kind: 'compare', condition: conditionOf(stage.condition) }];
    case 'extend':
      return stage.columns.map(({ name, node }) => {
        if (node.kind === 'apply' && node.spec.name === 'redact')
          return { kind: 'screen', name: topLevel(name), screen: redactedOf(name, node.args) };
        return { kind: 'add', name: topLevel(name), json: jsonOf(literalOf(node)) };
      });
    case 'remove':
      return stage.names.map((pattern) => ({ kind: 'remove', name: known(wholeName(pattern)) }));
    case 'keep':
      return [{ kind: 'keep', names: stage.names.map((pattern) => topLevel(wholeName(pattern))) }];
    case 'rename':
      return stage.pairs.map(({ from, to }) => ({ kind: 'rename', from: topLevel(from), to: topLevel(to) }));
    default:
      throw new NeedsValues(`\`${stage.kind}\` looks at every field`);
  }
}

/** `field = redact(field, kinds…)`. */
function redactedOf(name: string, [field, ...given]: readonly Node[]): Screen {
  if (field?.kind !== 'column' || field.name !== name || field.type !== 'dynamic')
    throw new NeedsValues('the text of another field is hidden');
  const kinds = given.map((node) => (node.kind === 'constant' ? String(node.constant.value) : ''));
  const screen = kinds.length > 0 && kinds.every(isRedactionKind) ? screenOf(kinds) : undefined;
  if (!screen) throw new NeedsValues('not all of the kinds have a mark in the bytes');
  return screen;
}

function conditionOf(node: Node): ByteCondition {
  if (node.kind !== 'apply') throw new NeedsValues('the condition is no comparison');
  const { args } = node;
  const { name } = node.spec;
  switch (name) {
    case 'and':
    case 'or':
      return { kind: name, parts: args.map(conditionOf) };
    case 'not':
      return { kind: 'not', part: conditionOf(args[0]!) };
    case 'in':
      return oneOf(args);
    case '!in':
      return { kind: 'not', part: oneOf(args) };
    default:
      if (!isOperator(name)) throw new NeedsValues(`\`${name}\` computes a value`);
      return testOf(name, args[0]!, args[1]!);
  }
}

/** Null equals none of them, so this is never null. */
function oneOf([value, ...items]: readonly Node[]): ByteCondition {
  return { kind: 'or', parts: items.map((item) => testOf('==', value!, item)) };
}

function testOf(operator: ByteOperator, left: Node, right: Node): ByteCondition {
  return left.kind === 'column'
    ? { kind: 'test', field: fieldOf(left), operator, literal: comparable(literalOf(right)) }
    : { kind: 'test', field: fieldOf(right), operator: FLIPPED[operator], literal: comparable(literalOf(left)) };
}

function isOperator(name: string): name is ByteOperator {
  return Object.hasOwn(FLIPPED, name);
}

function fieldOf(node: Node): string {
  // `_time` is a datetime, which has many spellings.
  if (node.kind !== 'column' || node.type !== 'dynamic')
    throw new NeedsValues('no side of the comparison is a plain field');
  return known(node.name);
}

function wholeName({ text, prefix }: NamePattern): string {
  if (prefix) throw new NeedsValues(`\`${text}*\` may be any field`);
  if (text.includes(EACH)) throw new NeedsValues(`\`${text}\` reaches into lists`);
  return text;
}

/** A name with dots may be a key of an object, or one key. */
function topLevel(name: string): string {
  if (name.includes(EACH)) throw new NeedsValues(`\`${name}\` reaches into lists`);
  if (name.includes('.')) throw new NeedsValues(`\`${name}\` may be nested`);
  // Every event keeps its time, however it is left out.
  if (name === '_time') throw new NeedsValues('`_time` stays in every event');
  return known(name);
}

/** Bytes of UTF-8 say no half of a surrogate pair. */
function known(text: string): string {
  if (!text.isWellFormed()) throw new NeedsValues('half of a surrogate pair is no text of UTF-8');
  return text;
}

function literalOf(node: Node): string | bigint | number | boolean {
  if (node.kind !== 'constant') throw new NeedsValues('a value is computed of the event');
  const { type, value } = node.constant;
  if (value === null || type === 'dynamic' || type === 'datetime' || type === 'timespan')
    throw new NeedsValues(`a literal of type ${type} has many spellings`);
  return typeof value === 'string' ? known(value) : value;
}

/** Numbers are compared as doubles. */
function comparable(literal: string | bigint | number | boolean): ByteLiteral {
  if (typeof literal !== 'bigint') return literal;
  if (!Number.isSafeInteger(Number(literal))) throw new NeedsValues('a double does not hold the number');
  return Number(literal);
}

function jsonOf(literal: string | bigint | number | boolean): string {
  if (typeof literal === 'number' && !Number.isFinite(literal)) throw new NeedsValues('JSON has no such number');
  return typeof literal === 'bigint' ? String(literal) : JSON.stringify(literal);
}
