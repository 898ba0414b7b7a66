/** Operators that choose columns and make new ones: project, project-away, extend. */
import { withRestarts } from '../../plan/restarts.ts';
import { closed, extended, keeping, typeOf, without } from '../../plan/scope.ts';
import { plainOf } from '../../function-spec.ts';
import { analyze, type NameScope } from '../../plan/analysis.ts';
import type { Column, NamePattern, Renamed } from '../../plan/tree.ts';
import { meaningError } from '../../syntax/apl-error.ts';
import { readAssignment, readColumnName, readExpression, readReachingName } from '../../syntax/expressions.ts';
import type { Parser } from '../../syntax/parser.ts';
import { EACH, type Expression } from '../../syntax/tree.ts';
import {
  assignedColumns,
  operator,
  type Operator,
  type OperatorResult,
  type OperatorUse,
} from '../../plan/operator.ts';

/** `name`, `name*`, `['any.name']*`. */
function readPattern(parser: Parser, use: OperatorUse = 'queries'): NamePattern {
  if (parser.accept('*')) return { text: '', prefix: true };
  const { at } = parser.token;
  const text = readReachingName(parser);
  if (use === 'queries' && text.includes(EACH) && !parser.fields.has(text))
    throw meaningError(at, '[] works in transforms only');
  const prefix = parser.accept('*');
  if (prefix) parser.prefixes.push(text);
  return { text, prefix };
}

interface Renaming {
  readonly at: number;
  readonly to: string;
  readonly from: string;
}

function readRenaming(parser: Parser): Renaming {
  const to = readColumnName(parser, 'a new name');
  parser.expect('=', 'after the new name');
  const { at } = parser.token;
  return { at, to, from: readColumnName(parser) };
}

function renamed(renamings: readonly Renaming[], { scope }: NameScope): OperatorResult {
  const pairs = renamings.map(({ at, to, from }): Renamed => {
    const type = typeOf(scope, from);
    if (type === undefined) throw meaningError(at, `there is no column ${JSON.stringify(from)} here`);
    return { from, to, type };
  });
  const seen = new Set(pairs.map(({ to }) => to));
  if (seen.size < pairs.length) throw meaningError(renamings[0]!.at, 'two columns would have the same name');
  const left = pairs.filter(({ from }) => !seen.has(from)).map(({ from }) => ({ text: from, prefix: false }));
  const columns = new Map([...without(scope, left).columns, ...pairs.map(({ to, type }) => [to, type] as const)]);
  return { stages: [{ kind: 'rename', pairs }], scope: { ...without(scope, left), columns } };
}

const UNSUPPORTED = ['replaceHash', 'redactGroups'];

/** Options of redact, each `name=value`; for options left out on purpose the error says what to write instead. */
function readRedactToken(parser: Parser): string {
  let token = '*';
  for (;;) {
    if (parser.option('replaceToken')) {
      const wrong = parser.unexpected('a token in quotes');
      const given = parser.take();
      if (given.kind !== 'string') throw wrong;
      token = given.value;
    } else if (UNSUPPORTED.includes(parser.token.text)) {
      const { text, at } = parser.take();
      parser.expect('=', `after ${text}`);
      const fix =
        text === 'replaceHash'
          ? 'write extend field = hash_sha256(field)'
          : 'write replace_regex, with $1 for what stays';
      if (!parser.accept('false')) throw meaningError(at, `${text}=true is not supported`, fix);
    } else return token;
  }
}

/** Literal texts, and those of an array. */
function patternsOf(expressions: readonly Expression[], names: NameScope): string[] {
  return expressions.flatMap((expression) => {
    const node = analyze(expression, names);
    const found = node.kind === 'constant' ? [plainOf(node.constant)].flat() : [];
    if (found.length === 0 || found.some((item) => typeof item !== 'string'))
      throw meaningError(expression.at, 'redact wants regular expressions as literals');
    return found as string[];
  });
}

/** The columns beside those that there are. */
export function extending(made: readonly Column[], { scope }: NameScope): OperatorResult {
  const { before, columns, after } = withRestarts(made);
  return { stages: [...before, { kind: 'extend', columns }, ...after], scope: extended(scope, columns) };
}

export const COLUMNS: readonly Operator[] = [
  operator({
    names: ['project'],
    hides: true,
    syntax: 'project <name> [= <expression>], …',
    doc: 'Keeps only these columns, in this order.',
    read: (parser) => parser.list(() => readAssignment(parser)),
    plan(assignments, names) {
      const { before, columns } = withRestarts(assignedColumns(assignments, names));
      return {
        stages: [...before, { kind: 'project', columns }],
        scope: closed(columns.map(({ name, node }) => [name, node.type])),
      };
    },
  }),
  operator({
    names: ['project-away'],
    hides: true,
    syntax: 'project-away <name>[*], …',
    doc: 'Removes columns; `name*` stands for all whose names start so. In transforms `a[].b` is the field `b` of each object in the list `a`.',
    read: (parser, _at, use) => parser.list(() => readPattern(parser, use)),
    plan: (patterns, { scope }) => ({ stages: [{ kind: 'remove', names: patterns }], scope: without(scope, patterns) }),
  }),
  operator({
    names: ['project-keep'],
    hides: true,
    syntax: 'project-keep <name>[*], …',
    doc: 'Keeps only these columns, in the order that they had; in transforms `a[].b`, too.',
    read: (parser, _at, use) => parser.list(() => readPattern(parser, use)),
    plan: (patterns, { scope }) => ({ stages: [{ kind: 'keep', names: patterns }], scope: keeping(scope, patterns) }),
  }),
  operator({
    names: ['project-rename'],
    syntax: 'project-rename <new name> = <name>, …',
    doc: 'Renames columns, which keep their position.',
    read: (parser) => parser.list(() => readRenaming(parser)),
    plan: renamed,
  }),
  operator({
    names: ['project-reorder'],
    only: 'queries',
    syntax: 'project-reorder <name>[*] [asc | desc], …',
    doc: 'Moves these columns to the front.',
    read(parser) {
      return parser.list(() => {
        const pattern = readPattern(parser);
        if (!parser.accept('asc')) parser.accept('desc');
        return pattern;
      });
    },
    plan: (patterns, { scope }) => ({ stages: [{ kind: 'reorder', names: patterns }], scope }),
  }),
  operator({
    names: ['redact'],
    only: 'queries',
    syntax: 'redact [replaceToken="***"] "<regex>", … [on <field>, …]',
    doc: 'Replaces what the regular expressions (RE2) match in the fields, or in all fields without `on`. A token of one character (by default `*`) replaces each character, a longer one each match.',
    read(parser) {
      const token = readRedactToken(parser);
      const patterns = parser.list(() => readExpression(parser));
      const fields = parser.accept('on')
        ? parser.list(() => ({ at: parser.token.at, name: readColumnName(parser) }))
        : undefined;
      return { token, patterns, fields };
    },
    plan({ token, patterns, fields }, names) {
      const stage = {
        kind: 'redact',
        names: fields?.map(({ name }) => name),
        patterns: patternsOf(patterns, names),
        token,
      } as const;
      const columns = (fields ?? []).map(({ at, name }): Column => ({
        name,
        node: analyze({ kind: 'name', at, name }, names),
      }));
      return { stages: [stage], scope: extended(names.scope, columns) };
    },
  }),
  operator({
    names: ['extend'],
    syntax: 'extend <name> = <expression>, …',
    doc: 'Adds columns, or replaces those of the same name. In transforms `extend a[].b = mask(a[].b)` replaces the field `b` of each object in the list `a`.',
    read: (parser, _at, use) => parser.list(() => readAssignment(parser, use === 'transforms')),
    plan: (assignments, names) => extending(assignedColumns(assignments, names), names),
  }),
];
