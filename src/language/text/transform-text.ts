/**
 * A transform's text: the operators that one event goes through, without a dataset. Each step keeps its own text and place, for messages and
 * for what compiles steps one by one.
 */
import { SERVICE_QUERY_STAGES, SERVICE_QUERY_TEXT } from '../limits.ts';
import { AplError, attempt, meaningError, syntaxError } from '../syntax/apl-error.ts';
import { Parser } from '../syntax/parser.ts';
import { OPERATORS_BY_NAME } from '../operators/table.ts';
import type { OperatorStep } from '../plan/operator.ts';
import { readLets } from './let-text.ts';
import { letsOf, operatorWordAt, planStep, readStep } from './query-text.ts';
import { EVENT_ON_ITS_WAY } from '../plan/scope.ts';
import type { ColumnScope } from '../plan/tree.ts';
import type { QueryStage } from '../plan/tree.ts';

export interface TransformStep extends OperatorStep {
  readonly stages: readonly QueryStage[];
  /** The columns before it. */
  readonly scope: ColumnScope;
}

export interface TransformText {
  readonly steps: readonly TransformStep[];
  /** One for each step that is wrong, in their order. */
  readonly problems: readonly AplError[];
}

export function readTransform(text: string): TransformText {
  const steps: TransformStep[] = [];
  const problems: AplError[] = [];
  const wrong = attempt(() => readSteps(text, steps, problems));
  if (wrong instanceof AplError) problems.push(wrong);
  return { steps, problems };
}

function readSteps(text: string, steps: TransformStep[], problems: AplError[]): void {
  if (text.length > SERVICE_QUERY_TEXT)
    throw syntaxError(0, `the transform is longer than ${SERVICE_QUERY_TEXT} characters`);
  const parser = new Parser(text);
  const lets = letsOf(readLets(parser), new Map());
  // A pipe before the first operator is fine, as queries have one after the dataset.
  parser.accept('|');
  let scope = EVENT_ON_ITS_WAY;
  let hasRoute = false;
  for (let count = 0; count === 0 || parser.is('|'); count++) {
    if (count === SERVICE_QUERY_STAGES)
      throw syntaxError(parser.token.at, `the transform has more than ${SERVICE_QUERY_STAGES} operators`);
    const wrong = attempt(() => {
      const pipe = parser.token;
      if (count > 0) parser.take();
      if (count > 0 && parser.is('|')) {
        problems.push(syntaxError(pipe.at, 'an operator is missing between | and |', 'in a condition write or'));
        do parser.take();
        while (!isBehindStep(parser));
        return;
      }
      const { at } = parser.token;
      const step = readStep(parser, 'transforms');
      if (!parser.is('|') && !parser.is(';') && parser.token.kind !== 'end') throw notBehindStep(parser);
      if (hasRoute) throw meaningError(at, 'nothing can stand behind to_dataset, which is the last step');
      hasRoute = step.name === 'to_dataset';
      const { stages, scope: after } = planStep(step, { scope, lets });
      steps.push({ ...step, stages, scope });
      scope = after;
    });
    if (!(wrong instanceof AplError)) continue;
    problems.push(wrong);
    // The result of a wrong step is unknown: any name may exist after it.
    scope = EVENT_ON_ITS_WAY;
    parser.recover(wrong.at, ['|']);
  }
  while (parser.accept(';'));
  if (parser.token.kind !== 'end') throw parser.unexpected('| or the end of the transform');
}

/** A line without its pipe is the likeliest mistake. */
function notBehindStep(parser: Parser): AplError {
  const word = operatorWordAt(parser) ?? '';
  if (!OPERATORS_BY_NAME.has(word)) return parser.unexpected('| or the end of the transform');
  return syntaxError(parser.token.at, `found ${JSON.stringify(word)} without | before it`, `write | ${word}`);
}

const isBehindStep = (parser: Parser): boolean => parser.is('|') || parser.token.kind === 'end';
