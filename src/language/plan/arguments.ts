/** Checks the arguments of a call against its spec. Throws an `AplError` at the argument at fault. */
import type { ArgType, NamedFunction } from '../function-spec.ts';
import type { AplError } from '../syntax/apl-error.ts';
import { meaningError } from '../syntax/apl-error.ts';
import { readDatetime } from '../syntax/literals.ts';
import { isNumeric, TYPE_WORDS, type Type } from '../types.ts';
import { constantNode, type Node } from './tree.ts';

/** The arguments with constants made to fit: texts that are times where times are compared. */
export function checkArguments(
  spec: NamedFunction,
  given: readonly Node[],
  at: number,
  places: readonly number[],
): Node[] {
  const most = spec.rest === undefined ? spec.args.length : Infinity;
  const least = spec.args.length - (spec.optional ?? 0);
  if (given.length < least || given.length > most) {
    const wanted = least === most ? String(least) : most === Infinity ? `${least} or more` : `${least} to ${most}`;
    throw meaningError(
      at,
      `${spec.names[0]} takes ${wanted} argument${wanted === '1' ? '' : 's'}, not ${given.length}: ${spec.syntax}`,
    );
  }
  const args = spec.compares === true ? withTimes(given, places) : given;
  return args.map((arg, n) => checkArgument(spec.args[n] ?? spec.rest!, arg, places[n] ?? at, spec, n));
}

/** A constant text beside a datetime is read as one. */
function withTimes(args: readonly Node[], places: readonly number[]): Node[] {
  if (!args.some(({ type }) => type === 'datetime')) return [...args];
  return args.map((arg, n) =>
    arg.kind === 'constant' && arg.type === 'string' && isTimeText(arg) ? timeOf(arg, places[n] ?? 0) : arg,
  );
}

const isTimeText = ({ constant }: Node & { readonly kind: 'constant' }): boolean =>
  /^\s*\d/.test(String(constant.value));

function timeOf({ constant }: Node & { readonly kind: 'constant' }, at: number): Node {
  const value = readDatetime(String(constant.value));
  if (value === undefined) throw meaningError(at, `${JSON.stringify(constant.value)} cannot be read as a datetime`);
  return constantNode({ type: 'datetime', value });
}

const LITERALS: Readonly<Partial<Record<ArgType, string>>> = {
  'constant string': 'a text in quotes',
  'constant int': 'a number',
};

function checkArgument(
  wanted: ArgType,
  arg: Node,
  at: number,
  { names: [name], syntax }: NamedFunction,
  n: number,
): Node {
  if (wanted === 'secret' || wanted === 'secret or count') {
    if (arg.kind === 'apply' && (arg.spec.name === 'env' || arg.spec.name === 'secret_file')) return arg;
    if (
      wanted === 'secret or count' &&
      arg.kind === 'constant' &&
      typeof arg.constant.value === 'bigint' &&
      arg.constant.value > 0n
    )
      return arg;
    const count = wanted === 'secret' ? '' : 'an integer of 1 or more, or ';
    throw meaningError(
      at,
      `${name} wants ${count}its key as env("NAME") or secret_file("/path"), so that it stands in no text`,
    );
  }
  if (wanted.startsWith('constant')) {
    if (arg.kind !== 'constant' || arg.constant.value === null)
      throw meaningError(
        at,
        `${name} wants ${LITERALS[wanted] ?? 'a literal'} as argument ${n + 1}, and no field: ${syntax}`,
      );
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
  return meaningError(at, `${name === undefined ? '' : `${name} `}wants ${wanted} here, not ${TYPE_WORDS[found]}`);
}
