/**
 * Filters on single fields in a query's text. Values that are chosen add up: a second one of a field joins the first (`in`), the same one
 * again changes nothing, one that is left out leaves the list. Conditions that were written by hand count; those that are more than a list
 * of values of one field stay as they are.
 */
import { formatTime } from '../../../core/time/time-text.ts';
import { planOf, readQuery } from '../../../language/text/query-text.ts';
import { readExpression } from '../../../language/syntax/expressions.ts';
import { AplError, attempt } from '../../../language/syntax/apl-error.ts';
import { Parser } from '../../../language/syntax/parser.ts';
import { type Expression, fieldNameOf } from '../../../language/syntax/tree.ts';
import type { CellValue } from './api.ts';
import { leadingStages, quoteName } from './query-text.ts';

export interface FieldFilter {
  readonly name: string;
  readonly value: CellValue;
  /** Events with this value are not wanted. */
  readonly isLeftOut?: boolean;
}

/** Values of one field that events have, or have not; each as it is written, `null` for none. */
interface Condition {
  readonly name: string;
  readonly isOut: boolean;
  readonly values: readonly string[];
}

type FilterPart = { readonly text: string } | Condition;

const NONE = 'null';
/** As `and` binds in expressions. */
const AND = 2;
const FILTER = /^(?:where|filter)\b/;

/** Adds the filter where events still have their fields: to a condition on the same field, else behind the leading filters. */
export function addFilter(text: string, { name, value, isLeftOut = false }: FieldFilter): string {
  const { source, leading, rest } = leadingStages(text);
  const literal = literalOf(name, value);
  const stages = leading.map((stage, at) =>
    // What a later stage may make of the field is another thing.
    FILTER.test(stage) && !leading.slice(at + 1).some((later) => !FILTER.test(later) && later.includes(name))
      ? partsOf(stage)
      : undefined,
  );
  const own = stages
    .flatMap((parts) => parts ?? [])
    .filter((part): part is Condition => 'name' in part && part.name === name);
  const isChosen = own.some(({ isOut }) => !isOut);
  // A left-out value that is chosen now becomes the only one, unless others are chosen.
  const isReplaced = !isLeftOut && !isChosen;
  const change = (part: Condition): readonly FilterPart[] => {
    const others = part.values.filter((each) => each !== literal);
    if (!part.isOut === isLeftOut) {
      if (isReplaced) return [];
      if (others.length === part.values.length) return [part];
      return others.length > 0
        ? [{ ...part, values: others }]
        : isLeftOut
          ? [{ name, isOut: true, values: [literal] }]
          : [];
    }
    // One list of left-out values is enough.
    if (part.isOut && (isChosen || part !== own.find(({ isOut }) => isOut))) return [part];
    return [part.values.includes(literal) ? part : { ...part, values: [...part.values, literal] }];
  };
  const changed = leading.flatMap((stage, at) => {
    const parts = stages[at];
    if (!parts?.some((part) => own.includes(part as Condition))) return [stage];
    const next = parts.flatMap((part) => (own.includes(part as Condition) ? change(part as Condition) : [part]));
    const isSame = next.length === parts.length && next.every((part, index) => part === parts[index]);
    return isSame ? [stage] : next.length === 0 ? [] : [writeStage(next)];
  });
  const isNew = own.length === 0 || (isReplaced && own.every(({ isOut }) => isOut));
  const added = isNew ? [writeStage([{ name, isOut: isLeftOut, values: [literal] }])] : [];
  return [source, ...changed, ...added, ...rest].join('\n| ');
}

/** Events that have this value. */
export function conditionText(name: string, value: CellValue): string {
  return write({ name, isOut: false, values: [literalOf(name, value)] }, true);
}

/** As a query names it, in quotes only where it has to. */
export function fieldText(name: string): string {
  return isPlain(name) ? name : quoteName(name);
}

function isPlain(name: string): boolean {
  if (!/^[A-Za-z_]\w*$/.test(name)) return false;
  const expression = attempt(() => readExpression(new Parser(name)));
  if (expression instanceof AplError || fieldNameOf(expression) !== name) return false;
  return !(
    attempt(() =>
      planOf(readQuery(`x | where ${name} == 1 or ${name} in (1) or isnull(${name})`), new Map()),
    ) instanceof AplError
  );
}

function literalOf(name: string, value: CellValue): string {
  if (value === null) return NONE;
  if ((name === '_time' || name === '_sysTime') && typeof value === 'string')
    return `datetime(${JSON.stringify(value)})`;
  return typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : JSON.stringify(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Of a stage of `where`: its conditions joined by `and`. Undefined where they are joined otherwise. */
function partsOf(stage: string): readonly FilterPart[] | undefined {
  try {
    const whole = new Parser(stage);
    whole.take();
    const from = whole.token.at;
    const single = conditionIn(readExpression(whole));
    if (whole.token.kind !== 'end') return undefined;
    if (single) return [single];
    const parser = new Parser(stage.slice(from));
    const parts: FilterPart[] = [];
    do {
      const { at } = parser.token;
      const expression = readExpression(parser, AND);
      parts.push(conditionIn(expression) ?? { text: parser.text.slice(at, parser.end) });
    } while (parser.accept('and'));
    return parser.token.kind === 'end' ? parts : undefined;
  } catch (error) {
    if (error instanceof AplError) return undefined;
    throw error;
  }
}

function conditionIn(expression: Expression): Condition | undefined {
  if (expression.kind !== 'call') return undefined;
  const { name: sign, args } = expression;
  const [first, ...others] = args;
  const field = first && fieldNameOf(first);
  if ((sign === 'or' || sign === 'and') && args.length === 2) {
    const [a, b] = args.map(conditionIn);
    const isOut = sign === 'and';
    if (!a || !b || a.name !== b.name || a.isOut !== isOut || b.isOut !== isOut) return undefined;
    return { ...a, values: [...a.values, ...b.values] };
  }
  if (field === undefined) return undefined;
  if (sign === 'isnull' || sign === 'isnotnull') return { name: field, isOut: sign === 'isnotnull', values: [NONE] };
  if (!['==', '!=', 'in', '!in'].includes(sign)) return undefined;
  const values = others.map(constantText);
  return values.includes(undefined)
    ? undefined
    : { name: field, isOut: sign.startsWith('!'), values: values as string[] };
}

/** As `literalOf` writes it. */
function constantText(expression: Expression): string | undefined {
  if (expression.kind !== 'constant') return undefined;
  const { type, value } = expression.constant;
  if (type === 'string') return JSON.stringify(value);
  if (type === 'datetime' && typeof value === 'bigint') return `datetime(${JSON.stringify(formatTime(value))})`;
  return type === 'int' || type === 'real' || type === 'bool' ? String(value) : undefined;
}

function writeStage(parts: readonly FilterPart[]): string {
  return `where ${parts.map((part) => ('text' in part ? part.text : write(part, parts.length === 1))).join(' and ')}`;
}

function write({ name, isOut, values }: Condition, isAlone: boolean): string {
  const field = fieldText(name);
  const some = values.filter((value) => value !== NONE);
  const list =
    some.length === 1
      ? `${field} ${isOut ? '!=' : '=='} ${some[0]}`
      : `${field} ${isOut ? '!in' : 'in'} (${some.join(', ')})`;
  const none = `${isOut ? 'isnotnull' : 'isnull'}(${field})`;
  if (some.length === values.length) return list;
  if (some.length === 0) return none;
  const both = isOut ? `${list} and ${none}` : `${list} or ${none}`;
  return isAlone ? both : `(${both})`;
}
