/** Operators that say something about the whole result: its columns, how it is drawn, a name for it. */
import { closed } from '../../plan/scope.ts';
import { extending } from '../columns/spec.ts';
import { readAssignment, readColumnName } from '../../syntax/expressions.ts';
import { WANTED, type Parser } from '../../syntax/parser.ts';
import { assignedColumns, operator, type Operator } from '../../plan/operator.ts';

const CHARTS = [
  'table',
  'timechart',
  'linechart',
  'areachart',
  'stackedareachart',
  'barchart',
  'columnchart',
  'piechart',
  'scatterchart',
  'card',
];

/** `with (title="x", kind=stacked)`, or such pairs without `with`. */
function readProperties(parser: Parser): Readonly<Record<string, string>> {
  const property = () => {
    const name = readColumnName(parser, 'the name of a property');
    parser.expect('=', 'after the name');
    const token = parser.take();
    return [name, token.kind === 'string' ? token.value : token.text] as const;
  };
  if (!parser.accept('with')) {
    const pairs = [];
    while (parser.token.kind === 'name') pairs.push(property());
    return Object.fromEntries(pairs);
  }
  parser.expect('(', 'after with');
  const pairs = parser.is(')') ? [] : parser.list(property);
  parser.expect(')', 'after the properties');
  return Object.fromEntries(pairs);
}

export const SHAPE: readonly Operator[] = [
  operator({
    names: ['getschema'],
    only: 'queries',
    syntax: 'getschema',
    doc: 'Describes the columns, one row each: `ColumnName`, `ColumnOrdinal` from 0, `DataType` and `ColumnType`.',
    read: () => undefined,
    plan() {
      const columns = [
        ['ColumnName', 'string'],
        ['ColumnOrdinal', 'int'],
        ['DataType', 'string'],
        ['ColumnType', 'string'],
      ] as const;
      return { stages: [{ kind: 'schema' }], scope: closed(columns) };
    },
  }),
  operator({
    names: ['render'],
    only: 'queries',
    syntax: 'render <chart> [with (<property>=<value>, …)]',
    doc: 'Says how the explorer draws the result: table, timechart, linechart, areachart, stackedareachart, barchart, columnchart, piechart, scatterchart, card. The rows stay as they are.',
    read: (parser) => ({ chart: parser.word(CHARTS, 'a chart'), properties: readProperties(parser) }),
    plan: ({ chart, properties }, { scope }) => ({ stages: [{ kind: 'render', chart, properties }], scope }),
  }),
  operator({
    names: ['as'],
    only: 'queries',
    syntax: 'as <name>',
    doc: 'Names the rows up to here; union withsource= shows the name.',
    read: (parser) => readColumnName(parser, 'a name'),
    plan: (name, { scope }) => ({ stages: [{ kind: 'label', name }], scope }),
  }),
  operator({
    names: ['serialize'],
    only: 'queries',
    syntax: 'serialize [<name> = <expression>, …]',
    doc: 'Keeps the order of the rows for row_number, prev, next and row_cumsum, which take it from the sort before them in any case. Columns behind it are those of an extend.',
    read(parser) {
      parser.could(WANTED.expression);
      const isAlone = parser.token.kind !== 'name' && !parser.is('[');
      return isAlone ? [] : parser.list(() => readAssignment(parser));
    },
    plan(assignments, names) {
      return assignments.length === 0
        ? { stages: [], scope: names.scope }
        : extending(assignedColumns(assignments, names), names);
    },
  }),
];
