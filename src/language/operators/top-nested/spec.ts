/** top-nested: the largest groups, and in each of them the largest groups of the next field. */
import { closed } from '../../plan/scope.ts';
import type { NestedLevel } from '../../plan/tree.ts';
import { meaningError } from '../../syntax/apl-error.ts';
import { readAssignment } from '../../syntax/expressions.ts';
import type { Parser } from '../../syntax/parser.ts';
import type { Assignment } from '../../syntax/tree.ts';
import { assignedColumns, operator, type Operator } from '../../plan/operator.ts';
import { readsDown } from '../rows/spec.ts';
import { aggregatedOf, readAggregation } from '../summarize/spec.ts';

interface LevelText {
  readonly at: number;
  readonly count: number;
  readonly key: Assignment;
  readonly by: Assignment;
  readonly desc: boolean;
}

function readLevel(parser: Parser): LevelText {
  const { at } = parser.token;
  const count = parser.count('a number of groups after top-nested');
  parser.expect('of', 'after the number of groups');
  const key = readAssignment(parser);
  parser.expect('by', 'and an aggregation after the field');
  const by = readAggregation(parser);
  return { at, count, key, by, desc: readsDown(parser) };
}

/** Levels that one query may have: each is a summarize and a join. */
const MOST_LEVELS = 4;

export const TOP_NESTED: readonly Operator[] = [
  operator({
    names: ['top-nested'],
    only: 'queries',
    syntax: 'top-nested <count> of <expression> by <aggregation> [asc | desc], …',
    doc: 'Keeps the groups with the largest values of the aggregation, in `aggregated_<name>`; after a comma and `top-nested` again, the largest groups within each of these.',
    read(parser, at) {
      const levels = [readLevel(parser)];
      while (parser.accept(',')) {
        if (!parser.text.startsWith('top-nested', parser.token.at))
          throw parser.unexpected('top-nested after the comma');
        parser.skipTo(parser.token.at + 'top-nested'.length);
        levels.push(readLevel(parser));
      }
      if (levels.length > MOST_LEVELS) throw meaningError(at, `top-nested has at most ${MOST_LEVELS} levels`);
      return { at, levels };
    },
    plan({ at, levels }, names) {
      const keys = assignedColumns(
        levels.map(({ key }) => key),
        names,
      );
      if (keys.length < levels.length) throw meaningError(at, 'two levels have the same name');
      const used = new Set(keys.map(({ name }) => name));
      const made = levels.map(({ count, by, desc }, n): NestedLevel => {
        const key = keys[n]!;
        const aggregation = aggregatedOf({ ...by, name: by.name ?? `aggregated_${key.name}` }, names, used);
        return { count, key, aggregation, desc };
      });
      const types = made.flatMap(
        ({ key, aggregation }) =>
          [
            [key.name, key.node.type],
            [aggregation.name, aggregation.type],
          ] as const,
      );
      return { stages: [{ kind: 'nested', levels: made }], scope: closed(types) };
    },
  }),
];
