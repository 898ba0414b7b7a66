/**
 * Virtual fields: names for an expression over the events of one dataset. An expression sees the event and the other virtual fields
 * of its dataset, never another dataset or other rows.
 */
import { WINDOWS } from '../functions/windows/spec.ts';
import { AplError, meaningError } from '../syntax/apl-error.ts';
import { readExpression } from '../syntax/expressions.ts';
import { Parser } from '../syntax/parser.ts';
import { analyze } from './analysis.ts';
import { boundedNode } from './lets.ts';
import { EVENTS, extended } from './scope.ts';
import { callsIn, type Column, type Node, type QueryStage } from './tree.ts';

export interface VirtualFieldSpec {
  readonly name: string;
  readonly expression: string;
}

/** An expression that cannot be: which virtual field it is of, and the place in its own text. */
export class VirtualFieldError extends Error {
  override readonly name = 'VirtualFieldError';
  readonly field: VirtualFieldSpec;
  readonly error: AplError;

  constructor(field: VirtualFieldSpec, error: AplError) {
    super(`virtual field ${JSON.stringify(field.name)}: ${error.message}`);
    this.field = field;
    this.error = error;
  }
}

/** Those of the fields that are wanted as columns, each with the expressions of those that it uses in place. Throws a `VirtualFieldError`. */
export function virtualColumns(fields: readonly VirtualFieldSpec[], isWanted: (name: string) => boolean): Column[] {
  const byName = new Map(fields.map((field) => [field.name, field]));
  const columns = new Map<string, Column>();
  const making: string[] = [];

  const make = (field: VirtualFieldSpec): Column => {
    const known = columns.get(field.name);
    if (known) return known;
    making.push(field.name);
    try {
      const column = { name: field.name, node: typed(field), text: field.expression };
      columns.set(field.name, column);
      return column;
    } catch (error) {
      if (error instanceof AplError) throw new VirtualFieldError(field, error);
      throw error;
    } finally {
      making.pop();
    }
  };

  const typed = ({ expression }: VirtualFieldSpec): Node => {
    const parser = new Parser(expression);
    const value = readExpression(parser);
    if (parser.token.kind !== 'end') throw parser.unexpected('the end of the expression');
    const used: Column[] = [];
    for (const [name, at] of parser.fields) {
      const other = byName.get(name);
      if (!other) continue;
      if (making.includes(name))
        throw meaningError(at, `${JSON.stringify(name)} would stand for itself`, [...making, name].join(' uses '));
      used.push(make(other));
    }
    const node = analyze(value, { scope: extended(EVENTS, used), lets: new Map() });
    refuseWindows(node);
    return boundedNode(inPlace(node, new Map(used.map((column) => [column.name, column.node]))), 0);
  };

  return fields.filter(({ name }) => isWanted(name)).map(make);
}

/** The node with nodes in place of these columns. */
function inPlace(node: Node, columns: ReadonlyMap<string, Node>): Node {
  switch (node.kind) {
    case 'column':
      return (
        columns.get(node.name) ?? (node.otherwise ? { ...node, otherwise: inPlace(node.otherwise, columns) } : node)
      );
    case 'item': {
      const { key } = node;
      return {
        ...node,
        object: inPlace(node.object, columns),
        key: typeof key === 'object' ? inPlace(key, columns) : key,
      };
    }
    case 'apply':
      return { ...node, args: node.args.map((arg) => inPlace(arg, columns)) };
    default:
      return node;
  }
}

/** A virtual field is of one event. */
function refuseWindows(node: Node): void {
  const [found] = callsIn(node, (name) => Object.hasOwn(WINDOWS, name));
  if (!found) return;
  throw meaningError(
    found.at,
    `${found.spec.name} looks at other rows, a virtual field at one event`,
    'use it in the query',
  );
}

/** The names in a text: fields, and with a prefix all that begin so. */
export interface Named {
  readonly fields: ReadonlyMap<string, number>;
  readonly prefixes: readonly string[];
}

/** Whether a text names the virtual field. */
export const isNamed = (name: string, { fields, prefixes }: Named): boolean =>
  fields.has(name) || prefixes.some((prefix) => name.startsWith(prefix));

/** The stages that put the columns beside the fields of an event. */
export const virtualStages = (columns: readonly Column[]): QueryStage[] =>
  columns.map((column) => ({ kind: 'extend', columns: [column], isVirtual: true }));
