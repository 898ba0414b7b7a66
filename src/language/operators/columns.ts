/** Operators that choose columns and make new ones: project, project-away, extend. */
import { closed, extended, without } from '../plan/scope.ts';
import type { NamePattern } from '../plan/tree.ts';
import { readAssignment, readColumnName } from '../syntax/expressions.ts';
import type { Parser } from '../syntax/parser.ts';
import { columnsOf, type Operator } from './operator.ts';

/** `name`, `name*`, `['any.name']*`. */
function readPattern(parser: Parser): NamePattern {
  if (parser.accept('*')) return { text: '', prefix: true };
  const text = readColumnName(parser);
  return { text, prefix: parser.accept('*') };
}

export const COLUMNS: readonly Operator[] = [
  {
    names: ['project'],
    syntax: 'project <name> [= <expression>], …',
    doc: 'Only these columns, in this order.',
    read(parser) {
      const assignments = parser.list(() => readAssignment(parser));
      return (names) => {
        const columns = columnsOf(assignments, names);
        return { stages: [{ kind: 'project', columns }], scope: closed(columns.map(({ name, node }) => [name, node.type])) };
      };
    },
  },
  {
    names: ['project-away'],
    syntax: 'project-away <name>[*], …',
    doc: 'All columns but these; `name*` stands for all whose names begin so.',
    read(parser) {
      const patterns = parser.list(() => readPattern(parser));
      return (names) => ({ stages: [{ kind: 'remove', names: patterns }], scope: without(names.scope, patterns) });
    },
  },
  {
    names: ['extend'],
    syntax: 'extend <name> = <expression>, …',
    doc: 'Adds columns; one of the same name is replaced.',
    read(parser) {
      const assignments = parser.list(() => readAssignment(parser));
      return (names) => {
        const columns = columnsOf(assignments, names);
        return { stages: [{ kind: 'extend', columns }], scope: extended(names.scope, columns) };
      };
    },
  },
];
