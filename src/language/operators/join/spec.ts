/** join and lookup: rows of two tables side by side. */
import { analyze, type NameScope } from '../../plan/analysis.ts';
import { joined } from '../../plan/scope.ts';
import type { JoinKey, JoinKind } from '../../plan/tree.ts';
import { meaningError, syntaxError } from '../../syntax/apl-error.ts';
import { readExpression } from '../../syntax/expressions.ts';
import type { Parser } from '../../syntax/parser.ts';
import { fieldNameOf, type Expression, type Pipeline } from '../../syntax/tree.ts';
import { comparable, TYPE_WORDS } from '../../types.ts';
import { operator, type Operator, type OperatorResult } from '../../plan/operator.ts';

const KINDS: ReadonlyMap<string, JoinKind> = new Map([
  ['inner', 'inner'],
  ['innerunique', 'innerunique'],
  ['leftouter', 'leftouter'],
  ['left', 'leftouter'],
  ['rightouter', 'rightouter'],
  ['right', 'rightouter'],
  ['fullouter', 'fullouter'],
  ['full', 'fullouter'],
  ['leftsemi', 'leftsemi'],
  ['semi', 'leftsemi'],
  ['leftanti', 'leftanti'],
  ['anti', 'leftanti'],
  ['leftantisemi', 'leftanti'],
  ['rightsemi', 'rightsemi'],
  ['rightanti', 'rightanti'],
  ['rightantisemi', 'rightanti'],
]);

function readKind(parser: Parser, fallback: JoinKind, allowed: readonly string[]): JoinKind {
  let kind = fallback;
  for (;;) {
    if (parser.option('kind')) kind = KINDS.get(parser.word(allowed, 'a kind'))!;
    else if (parser.accept('hint')) {
      // hint.strategy=… and its like: how a cluster would do it.
      while (parser.accept('.')) parser.take();
      parser.expect('=', 'after the hint');
      parser.take();
    } else return kind;
  }
}

/** `on a, $left.b == $right.c`. */
interface On {
  readonly left: Expression;
  readonly right: Expression;
  /** The field's name, where both sides are the same field. */
  readonly name: string | undefined;
}

function readOn(parser: Parser): On {
  const { at } = parser.token;
  const expression = readExpression(parser);
  const name = fieldNameOf(expression);
  if (name !== undefined) return { left: expression, right: expression, name };
  if (expression.kind === 'call' && expression.operator && expression.name === '==') {
    const [a, b] = expression.args.map(sideOf) as [Side, Side];
    if (hasField(a.rest) && hasField(b.rest) && (a.side === undefined || a.side !== b.side)) {
      const isTurned = a.side === 'right' || b.side === 'left';
      return { left: (isTurned ? b : a).rest, right: (isTurned ? a : b).rest, name: undefined };
    }
  }
  throw syntaxError(at, 'wanted a field that both tables have, or $left.a == $right.b');
}

/** An expression without `$left` and `$right`; undefined where it names neither: then its place at the == counts. */
interface Side {
  readonly side: 'left' | 'right' | undefined;
  readonly rest: Expression;
}

const hasField = (expression: Expression): boolean =>
  expression.kind === 'call' ? expression.args.some(hasField) : expression.kind !== 'constant';

function sideOf(expression: Expression): Side {
  if (expression.kind === 'member') {
    const { object, name, at } = expression;
    if (object.kind === 'name' && (object.name === '$left' || object.name === '$right'))
      return { side: object.name === '$left' ? 'left' : 'right', rest: { kind: 'name', at, name } };
    const inner = sideOf(object);
    return { side: inner.side, rest: { ...expression, object: inner.rest } };
  }
  if (expression.kind !== 'call') return { side: undefined, rest: expression };
  const parts = expression.args.map(sideOf);
  const [side, other] = new Set(parts.flatMap((part) => part.side ?? []));
  if (other !== undefined) throw syntaxError(expression.at, 'each side of == has to be of one table');
  return { side, rest: { ...expression, args: parts.map(({ rest }) => rest) } };
}

interface JoinText {
  readonly how: JoinKind;
  readonly table: Pipeline;
  readonly ons: readonly On[];
  /** A lookup returns the columns that it joins by once. */
  readonly dropsKeys: boolean;
}

function readJoin(parser: Parser, how: JoinKind, dropsKeys: boolean): JoinText {
  const table = parser.subqueries!.table();
  parser.expect('on', 'after the table');
  return { how, table, ons: parser.list(() => readOn(parser)), dropsKeys };
}

function joining({ how, table, ons, dropsKeys }: JoinText, names: NameScope): OperatorResult {
  const right = names.plan!(table, names.lets);
  const keys = ons.map((on): JoinKey => {
    const [a, b] = [analyze(on.left, names), analyze(on.right, { ...names, scope: right.scope })];
    if (!comparable(a.type, b.type))
      throw meaningError(
        on.left.at,
        `${TYPE_WORDS[a.type]} and ${TYPE_WORDS[b.type]} are never equal: convert one of them before`,
      );
    return { left: a, right: b };
  });
  const dropped = dropsKeys ? ons.flatMap(({ right: key }) => fieldNameOf(key) ?? []) : [];
  return {
    stages: [{ kind: 'join', how, right, keys, dropped }],
    scope: joined(names.scope, right.scope, how, dropped),
  };
}

export const JOIN: readonly Operator[] = [
  operator({
    names: ['join'],
    only: 'queries',
    syntax: 'join [kind=<kind>] (<table>) on <field>, <field> == <field of the table>, …',
    doc: 'Puts rows of two tables with equal values side by side; of two columns with the same name that of the right table is called name1. Kinds: inner (the default), innerunique (each left row with the first right row that matches), leftouter, rightouter, fullouter, leftsemi, leftanti, rightsemi, rightanti. Null equals nothing. `$left.a == $right.b` says which table a field is of.',
    read: (parser) => readJoin(parser, readKind(parser, 'inner', [...KINDS.keys()]), false),
    plan: joining,
  }),
  operator({
    names: ['lookup'],
    only: 'queries',
    syntax: 'lookup [kind=leftouter | kind=inner] (<table>) on <field>, …',
    doc: 'Adds the columns of a second table to each row; the columns of the condition come once. Rows without a match stay, unless kind=inner is given.',
    read: (parser) => readJoin(parser, readKind(parser, 'leftouter', ['leftouter', 'inner']), true),
    plan: joining,
  }),
];
