/** Expressions as they are written → typed ones: names found, arguments counted, types checked. Throws an `AplError` at the place at fault. */
import { FUNCTIONS, OPERATORS, findAggregate, unknownFunction, type ScalarFunction } from '../functions/table.ts';
import { guess } from '../foreign-names.ts';
import { commonType } from '../result-types.ts';
import type { NamedFunction } from '../function-spec.ts';
import { meaningError, syntaxError } from '../syntax/apl-error.ts';
import { TYPE_NAMES } from '../syntax/words.ts';
import { fieldNameOf, reachingNameOf, type Expression, type Pipeline } from '../syntax/tree.ts';
import { TYPE_WORDS, type Type } from '../types.ts';
import { SERVICE_QUERY_ARGUMENTS } from '../limits.ts';
import { checkArguments, wrongType } from './arguments.ts';
import { boundedNode, boundedTree, type LetBinding, type LetFunction, type Lets, type LetText } from './lets.ts';
import { closed, leftOut, typeOf } from './scope.ts';
import {
  ALL_COLUMNS,
  constantNode,
  isColumns,
  type ColumnScope,
  type DatasetName,
  type Node,
  type Tree,
} from './tree.ts';

/** Where names may reach into lists. */
export const REACHING_FIX =
  'a name reaches into lists in project-away, project-keep, and where extend of a transform replaces it in place: extend a[].b = mask(a[].b)';

export interface NameScope {
  readonly scope: ColumnScope;
  readonly lets: Lets;
  /** The name of each item of a list that is replaced in place: `a[].b`. */
  readonly item?: string;
  /** The typed tree of a query inside this one; transforms have none. `before`: the columns before operators that have no source of their own. */
  readonly plan?: (pipeline: Pipeline, lets: Lets, before?: ColumnScope) => Tree;
  /** The events of a dataset or of a pattern of names; transforms have none. */
  readonly eventsOf?: (name: DatasetName) => Tree;
}

export function analyze(expression: Expression, names: NameScope): Node {
  if (names.item !== undefined && reachingNameOf(expression) === names.item)
    return { kind: 'column', type: 'dynamic', name: names.item };
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
    case 'each':
      throw meaningError(expression.at, '[] cannot stand here', REACHING_FIX);
    case 'named':
      throw syntaxError(expression.at, 'a name with = cannot stand here', 'to compare, write ==');
    case 'star':
      throw meaningError(expression.at, '* cannot stand here', 'name the fields');
    case 'query':
      if (!expression.scalar)
        throw meaningError(expression.at, 'a query cannot stand here', 'for one value of it, write toscalar(…)');
      return scalarOf(treeOf(expression, names), expression.at);
  }
}

const treeOf = (expression: Expression & { readonly kind: 'query' }, names: NameScope): Tree =>
  names.plan!(expression.pipeline, names.lets);

/** The type of a query's first column. */
function firstType({ scope }: Tree, at: number): Type {
  const [first] = scope.columns.values();
  if (first === undefined || scope.open)
    throw meaningError(
      at,
      'the query has to end in columns of its own here: with project, summarize, distinct or count',
    );
  return first;
}

const scalarOf = (query: Tree, at: number): Node => ({ kind: 'scalar', type: firstType(query, at), query });

/** `value in (query)`. Undefined unless a query follows `in`. */
function among({ name, args }: Expression & { readonly kind: 'call' }, names: NameScope): Node | undefined {
  const [value, listed] = args;
  if (!/^!?in~?$/.test(name) || args.length !== 2 || !value || !listed) return undefined;
  const table =
    listed.kind === 'name' && !names.scope.columns.has(listed.name) ? names.lets.get(listed.name) : undefined;
  const query = listed.kind === 'query' ? treeOf(listed, names) : table?.kind === 'table' ? table.tree : undefined;
  if (!query) return undefined;
  firstType(query, listed.at);
  return {
    kind: 'among',
    type: 'bool',
    value: analyze(value, names),
    query,
    negated: name.startsWith('!'),
    caseless: name.endsWith('~'),
  };
}

/** A function of `let` with its arguments in place. */
function callLet(
  called: LetFunction,
  { name, args, at }: Expression & { readonly kind: 'call' },
  names: NameScope,
): Node {
  if ('pipeline' in called.body) throw meaningError(at, `${name} gives a table; wanted a value`);
  const lets = argumentsOf(called, name, args, at, names);
  return boundedNode(analyze(called.body.value, { ...names, scope: closed([]), lets }), at);
}

/** The scope of a function's body: the names before it, and its arguments. */
export function argumentsOf(
  { parameters, inner, lets }: LetFunction,
  name: string,
  args: readonly Expression[],
  at: number,
  names: NameScope,
): Lets {
  const least = parameters.filter(({ fallback }) => fallback === undefined).length;
  if (args.length < least || args.length > parameters.length)
    throw meaningError(
      at,
      `${name} takes ${parameters.length} argument${parameters.length === 1 ? '' : 's'}, not ${args.length}`,
    );
  const given = parameters.map((parameter, n) => {
    const arg = args[n] ?? parameter.fallback!;
    const node = analyze(arg, args[n] ? names : { ...names, scope: closed([]), lets });
    const fits =
      node.type === parameter.type ||
      node.type === 'dynamic' ||
      parameter.type === 'dynamic' ||
      (node.type === 'int' && parameter.type === 'real');
    if (!fits) throw wrongType(arg.at, TYPE_WORDS[parameter.type], node.type, name);
    return [parameter.name, node] as const;
  });
  return bindLets(inner, new Map<string, LetBinding>([...lets, ...given]), names.plan);
}

/** Binds the names; later ones may use earlier ones, and hide those of `given`. */
export function bindLets(
  texts: readonly LetText[],
  given: Lets,
  plan: NameScope['plan'],
): ReadonlyMap<string, LetBinding> {
  const lets = new Map<string, LetBinding>(given);
  for (const text of texts)
    if (text.kind !== 'parameter' || !given.has(text.name)) lets.set(text.name, boundOf(text, lets, plan));
  return lets;
}

function boundOf(text: LetText, lets: ReadonlyMap<string, LetBinding>, plan: NameScope['plan']): LetBinding {
  switch (text.kind) {
    case 'value':
      return boundedNode(analyze(text.value, { scope: closed([]), lets, ...(plan && { plan }) }), text.value.at);
    case 'parameter':
      if (!text.fallback)
        throw meaningError(
          text.at,
          `the parameter ${JSON.stringify(text.name)} has no value`,
          'send it in "variables", or give it a default: name: type = value',
        );
      return boundedNode(analyze(text.fallback, { scope: closed([]), lets, ...(plan && { plan }) }), text.fallback.at);
    case 'table':
      if (!plan) throw meaningError(text.pipeline.at, 'tables are for queries');
      return { kind: 'table', tree: boundedTree(plan(text.pipeline, lets), text.pipeline.at) };
    case 'function':
      return { ...text, lets: new Map(lets) };
  }
}

function resolve(name: string, at: number, { scope, lets }: NameScope): Node {
  const bound = scope.columns.has(name) ? undefined : lets.get(name);
  if (bound?.kind === 'table') throw meaningError(at, `${JSON.stringify(name)} is a table; wanted a value`);
  if (bound?.kind === 'function') throw meaningError(at, `${JSON.stringify(name)} is a function; wanted ${name}(…)`);
  if (bound) return bound;
  const type = typeOf(scope, name);
  if (type !== undefined) return { kind: 'column', type, name };
  const known = [...scope.columns.keys(), ...lets.keys()];
  const there =
    known.length > 0 ? `there ${known.length === 1 ? 'is' : 'are'} ${known.slice(0, 20).join(', ')}` : undefined;
  throw meaningError(at, `there is no column ${JSON.stringify(name)} here`, guess(name, known) ?? there);
}

/** `a.b`: the field `a.b`, as nested objects are stored, or what `a` holds under `b`. */
function member(expression: Expression & { readonly kind: 'member' }, names: NameScope): Node {
  const name = fieldNameOf(expression);
  const { scope, lets } = names;
  if (name === undefined) return itemNode(analyze(expression.object, names), expression.name, expression.at);
  if (scope.columns.has(name)) return resolve(name, expression.at, names);
  const head = fieldNameOf(expression.object)!;
  const inner = scope.columns.has(head) || lets.has(head) || typeOf(scope, name) === undefined;
  if (inner) return itemNode(analyze(expression.object, names), expression.name, expression.at);
  const object = analyze(expression.object, names);
  if (object.kind === 'item') return itemNode(object, expression.name, expression.at);
  const otherwise = object.type === 'dynamic' ? itemNode(object, expression.name, expression.at) : undefined;
  return { kind: 'column', type: 'dynamic', name, ...(otherwise && { otherwise }) };
}

function itemNode(object: Node, key: string | bigint | Node, at: number): Node {
  if (object.type !== 'dynamic') throw meaningError(at, `nothing can be taken out of ${TYPE_WORDS[object.type]}`);
  return { kind: 'item', type: 'dynamic', object, key };
}

function item(expression: Expression & { readonly kind: 'index' }, names: NameScope): Node {
  const object = analyze(expression.object, names);
  const index = analyze(expression.index, names);
  if (index.kind === 'constant' && typeof index.constant.value === 'bigint')
    return itemNode(object, index.constant.value, expression.at);
  if (index.kind === 'constant' && typeof index.constant.value === 'string')
    return itemNode(object, index.constant.value, expression.at);
  if (index.type !== 'int' && index.type !== 'dynamic')
    throw wrongType(expression.index.at, 'an integer or the name of a field', index.type);
  return itemNode(object, index, expression.at);
}

function call(expression: Expression & { readonly kind: 'call' }, names: NameScope): Node {
  const { name, at } = expression;
  const bound = expression.operator ? undefined : names.lets.get(name);
  if (bound?.kind === 'function') return callLet(bound, expression, names);
  const query = expression.operator ? among(expression, names) : undefined;
  if (query) return query;
  const spec = expression.operator ? OPERATORS.get(name) : FUNCTIONS.get(name);
  if (!spec) {
    if (findAggregate(name) || name === 'arg_max' || name === 'arg_min')
      throw meaningError(at, `the aggregation ${name} can only stand in summarize`);
    throw unknownFunction(name, at);
  }
  if (!expression.operator && expression.args.length > SERVICE_QUERY_ARGUMENTS)
    throw meaningError(at, `${name} takes at most ${SERVICE_QUERY_ARGUMENTS} arguments, not ${expression.args.length}`);
  if (spec.name === 'column_ifexists' || spec.name === 'ensure_field') return columnIfExists(spec, expression, names);
  const args = expression.args.map((arg, n) =>
    arg.kind === 'star' && n === 0 && spec.everything === true
      ? EVERYTHING
      : (columnsOperand(spec, arg, names) ?? leftOut(spec.name, arg, names) ?? analyze(arg, names)),
  );
  // `between (time .. 3d)`: the end is so long after the start.
  if (/^!?between$/.test(spec.name) && args[1]?.type === 'datetime' && args[2]?.type === 'timespan')
    args[2] = applyNamed('+', at, args[1], args[2]);
  if (args.some(isColumns))
    return { kind: 'apply', type: 'dynamic', spec, args, at, places: expression.args.map((arg) => arg.at) };
  return applied(
    spec,
    args,
    at,
    expression.args.map((arg) => arg.at),
  );
}

/** `*` for all columns. */
export function columnsOperand(spec: NamedFunction, arg: Expression, { plan }: NameScope): Node | undefined {
  if (arg.kind !== 'star' || spec.columns !== true) return undefined;
  if (!plan) throw meaningError(arg.at, '* for all fields works in queries only', 'name the fields');
  return ALL_COLUMNS;
}

/** `typeof(long)`: null of that type. */
function typeOperand(expression: Expression | undefined): Node | undefined {
  const [named] = expression?.kind === 'call' && expression.name === 'typeof' ? expression.args : [];
  const type = named?.kind === 'name' ? TYPE_NAMES.get(named.name) : undefined;
  return type && constantNode({ type, value: null });
}

/** A field by the text of its name. Behind a stage that makes the columns only those that it made are there. */
function columnIfExists(
  spec: ScalarFunction,
  { args, at }: Expression & { readonly kind: 'call' },
  names: NameScope,
): Node {
  const places = args.map((arg) => arg.at);
  const empty = typeOperand(args[1]);
  const given = args.filter((_, n) => n !== 1 || !empty).map((arg) => analyze(arg, names));
  const [called, otherwise = empty!] = checkArguments(
    empty ? { ...spec, args: spec.args.slice(0, 1) } : spec,
    given,
    at,
    places,
  );
  const name = String((called as Node & { readonly kind: 'constant' }).constant.value);
  const type = typeOf(names.scope, name);
  if (type === undefined) return otherwise;
  const column: Node = { kind: 'column', type, name, otherwise };
  return { kind: 'apply', type: commonType([type, otherwise.type]), spec, args: [column, otherwise], at, places };
}

export const EVERYTHING: Node = { kind: 'everything', type: 'string' };

/** A function on arguments, checked. */
export function applied(spec: ScalarFunction, given: readonly Node[], at: number, places: readonly number[]): Node {
  const args = checkArguments(spec, given, at, places);
  const type = typeof spec.returns === 'function' ? spec.returns(args.map((arg) => arg.type)) : spec.returns;
  if (type === undefined)
    throw meaningError(
      at,
      `${spec.names[0]} does not go with ${args.map((arg) => TYPE_WORDS[arg.type]).join(' and ')}`,
    );
  return { kind: 'apply', type, spec, args, at, places };
}

/** A function or operator by its name, for what a stage is made of. */
export function applyNamed(name: string, at: number, ...args: readonly Node[]): Node {
  const spec = OPERATORS.get(name) ?? FUNCTIONS.get(name);
  if (!spec) throw new RangeError(`there is no function ${name}`);
  return applied(
    spec,
    args,
    at,
    args.map(() => at),
  );
}
