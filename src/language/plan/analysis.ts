/** Expressions as they are written → typed ones: names found, arguments counted, types checked. Throws an `AplError` at the place at fault. */
import { FUNCTIONS, OPERATORS, findAggregate, functionNames, guess, type ScalarFunction } from '../functions/table.ts';
import { otherFunction } from '../other-names.ts';
import type { ArgType, NamedFunction } from '../functions/spec.ts';
import { AplError } from '../syntax/apl-error.ts';
import { readDatetime } from '../syntax/literals.ts';
import { nameOf, type Expression } from '../syntax/tree.ts';
import { isNumeric, TYPE_WORDS, type Type } from '../types.ts';
import { typeOf, type Scope } from './scope.ts';
import { constantNode, type Node } from './tree.ts';

export interface Names {
  readonly scope: Scope;
  /** Values by the names that `let` gave them. */
  readonly lets: ReadonlyMap<string, Node>;
}

export function analyze(expression: Expression, names: Names): Node {
  switch (expression.kind) {
    case 'constant':
      return constantNode(expression.constant);
    case 'name':
      return resolve(expression.name, expression.at, names);
    case 'member':
      return member(expression, names);
    case 'index':
      return item(expression, names);
    case 'call':
      return call(expression, names);
    case 'named':
      throw new AplError('syntax', expression.at, 'a name with = cannot stand here', 'to compare, write ==');
    case 'star':
      throw new AplError('meaning', expression.at, '* cannot stand here', 'wanted a field');
  }
}

function resolve(name: string, at: number, { scope, lets }: Names): Node {
  const bound = scope.columns.has(name) ? undefined : lets.get(name);
  if (bound) return bound;
  const type = typeOf(scope, name);
  if (type !== undefined) return { kind: 'column', type, name };
  const known = [...scope.columns.keys(), ...lets.keys()];
  const there = known.length > 0 ? `there ${known.length === 1 ? 'is' : 'are'} ${known.slice(0, 20).join(', ')}` : undefined;
  throw new AplError('meaning', at, `there is no column ${JSON.stringify(name)} here`, guess(name, known) ?? there);
}

/** `a.b`: the field `a.b`, as nested objects are stored, or what `a` holds under `b`. */
function member(expression: Expression & { readonly kind: 'member' }, names: Names): Node {
  const name = nameOf(expression);
  const { scope, lets } = names;
  if (name === undefined) return itemNode(analyze(expression.object, names), expression.name, expression.at);
  if (scope.columns.has(name)) return resolve(name, expression.at, names);
  const head = nameOf(expression.object)!;
  const inner = scope.columns.has(head) || lets.has(head) || typeOf(scope, name) === undefined;
  if (inner) return itemNode(analyze(expression.object, names), expression.name, expression.at);
  const object = analyze(expression.object, names);
  if (object.kind === 'item') return itemNode(object, expression.name, expression.at);
  const otherwise = object.type === 'dynamic' ? itemNode(object, expression.name, expression.at) : undefined;
  return { kind: 'column', type: 'dynamic', name, ...(otherwise && { otherwise }) };
}

function itemNode(object: Node, key: string | bigint | Node, at: number): Node {
  if (object.type !== 'dynamic') throw new AplError('meaning', at, `nothing can be taken out of ${TYPE_WORDS[object.type]}`);
  return { kind: 'item', type: 'dynamic', object, key };
}

function item(expression: Expression & { readonly kind: 'index' }, names: Names): Node {
  const object = analyze(expression.object, names);
  const index = analyze(expression.index, names);
  if (index.kind === 'constant' && typeof index.constant.value === 'bigint') return itemNode(object, index.constant.value, expression.at);
  if (index.kind === 'constant' && typeof index.constant.value === 'string') return itemNode(object, index.constant.value, expression.at);
  if (index.type !== 'int' && index.type !== 'dynamic')
    throw wrongType(expression.index.at, 'an integer or the name of a field', index.type);
  return itemNode(object, index, expression.at);
}

function call(expression: Expression & { readonly kind: 'call' }, names: Names): Node {
  const { name, at } = expression;
  const spec = expression.operator ? OPERATORS.get(name) : FUNCTIONS.get(name);
  if (!spec) {
    if (findAggregate(name) || name === 'arg_max' || name === 'arg_min')
      throw new AplError('meaning', at, `the aggregation ${name} can only stand in summarize`);
    throw new AplError('meaning', at, `unknown function ${JSON.stringify(name)}`, otherFunction(name) ?? guess(name, functionNames()));
  }
  const args = expression.args.map((arg, n) =>
    arg.kind === 'star' && n === 0 && spec.everything === true && names.scope.open ? EVERYTHING : analyze(arg, names),
  );
  return applied(spec, args, at, expression.args.map((arg) => arg.at)); // prettier-ignore
}

const EVERYTHING: Node = { kind: 'everything', type: 'string' };

/** A function on arguments, checked. */
export function applied(spec: ScalarFunction, given: readonly Node[], at: number, places: readonly number[]): Node {
  const args = checkArguments(spec, given, at, places);
  const type = typeof spec.returns === 'function' ? spec.returns(args.map((arg) => arg.type)) : spec.returns;
  if (type === undefined)
    throw new AplError('meaning', at, `${spec.names[0]} does not go with ${args.map((arg) => TYPE_WORDS[arg.type]).join(' and ')}`);
  return { kind: 'apply', type, spec, args, at, places };
}

/** The arguments with constants made to fit: texts that are times where times are compared. */
export function checkArguments(spec: NamedFunction, given: readonly Node[], at: number, places: readonly number[]): Node[] {
  const most = spec.rest === undefined ? spec.args.length : Infinity;
  const least = spec.args.length - (spec.optional ?? 0);
  if (given.length < least || given.length > most) {
    const wanted = least === most ? String(least) : most === Infinity ? `${least} or more` : `${least} to ${most}`;
    throw new AplError(
      'meaning',
      at,
      `${spec.names[0]} takes ${wanted} argument${wanted === '1' ? '' : 's'}, not ${given.length}: ${spec.syntax}`,
    );
  }
  const args = spec.compares === true ? withTimes(given, places) : given;
  return args.map((arg, n) => checkArgument(spec.args[n] ?? spec.rest!, arg, places[n] ?? at, spec.names[0]));
}

/** A constant text beside a datetime is read as one. */
function withTimes(args: readonly Node[], places: readonly number[]): Node[] {
  if (!args.some(({ type }) => type === 'datetime')) return [...args];
  return args.map((arg, n) => (arg.kind === 'constant' && arg.type === 'string' && isTimeText(arg) ? timeOf(arg, places[n] ?? 0) : arg));
}

const isTimeText = ({ constant }: Node & { readonly kind: 'constant' }): boolean => /^\s*\d/.test(String(constant.value));

function timeOf({ constant }: Node & { readonly kind: 'constant' }, at: number): Node {
  const value = readDatetime(String(constant.value));
  if (value === undefined) throw new AplError('meaning', at, `${JSON.stringify(constant.value)} cannot be read as a datetime`);
  return constantNode({ type: 'datetime', value });
}

function checkArgument(wanted: ArgType, arg: Node, at: number, name: string): Node {
  if (wanted === 'secret') {
    if (arg.kind === 'apply' && (arg.spec.name === 'env' || arg.spec.name === 'secret_file')) return arg;
    throw new AplError('meaning', at, `${name} wants its key as env("NAME") or secret_file("/path"), so that it stands in no text`);
  }
  if (wanted.startsWith('constant')) {
    if (arg.kind !== 'constant' || arg.constant.value === null) throw new AplError('meaning', at, `${name} wants a literal here`);
    if (wanted === 'constant') return arg;
  }
  const kind = wanted.replace('constant ', '');
  const fits =
    kind === 'any' ||
    arg.type === kind ||
    (kind === 'number' && isNumeric(arg.type)) ||
    (arg.type === 'dynamic' && !wanted.startsWith('constant'));
  if (fits) return arg;
  if (kind === 'datetime' && arg.kind === 'constant' && arg.type === 'string') return timeOf(arg, at);
  throw wrongType(at, kind === 'number' ? 'a number' : TYPE_WORDS[kind as Type], arg.type, name);
}

export function wrongType(at: number, wanted: string, found: Type, name?: string): AplError {
  return new AplError('meaning', at, `${name === undefined ? '' : `${name} `}wants ${wanted} here, not ${TYPE_WORDS[found]}`);
}
