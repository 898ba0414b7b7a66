/** A query that is still being written, up to the caret: read by the parser itself, which says how the text may go on. */
import { findAggregate } from '../functions/table.ts';
import { SERVICE_QUERY_STAGES, SERVICE_QUERY_TEXT } from '../limits.ts';
import type { OperatorStep } from '../plan/operator.ts';
import { closed, EVENTS } from '../plan/scope.ts';
import type { ColumnScope } from '../plan/tree.ts';
import { AplError, attempt } from '../syntax/apl-error.ts';
import { begin, letsOf, plainEvents, planner, planStep, readStep } from './query-text.ts';
import { readLets } from './let-text.ts';
import { planSource } from './source-plan.ts';
import { readSource, type PipelineText, type QueryReading } from './sources.ts';

export interface QueryDraft {
  /** Words, signs and `WANTED` that may follow. */
  readonly wanted: ReadonlySet<string>;
  /** An aggregation may follow. */
  readonly aggregates: boolean;
  /** Names of tables, and of values, that the text itself made. */
  readonly tables: readonly string[];
  readonly values: readonly string[];
  /** The columns before the operator that is being written. */
  readonly scope: () => ColumnScope;
}

/** Undefined where nothing may follow: inside of a text or comment, or after an unreadable part. */
export function readDraft(text: string): QueryDraft | undefined {
  const reading = attempt(() => begin(text));
  if (text.length > SERVICE_QUERY_TEXT || reading instanceof AplError) return undefined;
  readTolerantly(reading);
  const { parser } = reading;
  const behind = text.slice(parser.end);
  if (parser.token.kind !== 'end' || behind.slice(behind.lastIndexOf('\n') + 1).includes('//')) return undefined;
  const made = [...parser.made];
  return {
    wanted: parser.wanted,
    aggregates: parser.inAggregation && !parser.calls.some(findAggregate),
    tables: made.filter((name) => reading.isTable(name)),
    values: made.filter((name) => !reading.isTable(name)),
    scope: () => scopeOf(reading),
  };
}

const SIGNS = ['|', ';'];
const ANY_EVENTS = { kind: 'dataset', name: { text: '*', at: 0 } } as const;

/** Goes on after each wrong statement and operator, as if it were not there. */
function readTolerantly(reading: QueryReading): void {
  const { parser, unfinished, lets } = reading;
  let steps: OperatorStep[] = [];
  const readNext = (isFirst: boolean): void => {
    if (isFirst || parser.is(';')) {
      readLets(parser, reading, lets);
      unfinished[0] = { at: parser.token.at, source: readSource(reading), steps: (steps = []) };
    } else if (parser.accept('|')) steps.push(readStep(parser, 'queries'));
    else parser.recover(parser.token.at, SIGNS);
  };
  for (let count = 0; count === 0 || (parser.token.kind !== 'end' && count < 2 * SERVICE_QUERY_STAGES); count++) {
    const wrong = attempt(() => readNext(count === 0));
    if (!(wrong instanceof AplError) || parser.token.kind === 'end') continue;
    parser.recover(wrong.at, SIGNS);
    // Which rows a wrong beginning would have is not known: any field may be there.
    unfinished.splice(0, unfinished.length, { at: 0, source: unfinished[0]?.source ?? ANY_EVENTS, steps });
    parser.calls.length = 0;
    parser.inAggregation = false;
    parser.hasFieldTerms = false;
  }
}

/** Each query that is not at its end begins with its own source, or with the rows of the one around it. */
function scopeOf({ lets: texts, unfinished, parser }: QueryReading): ColumnScope {
  const plan = planner(plainEvents);
  const found = attempt(() => letsOf(texts, new Map(), plan));
  const names = { lets: found instanceof AplError ? new Map() : found, plan, eventsOf: plainEvents };
  const behind = (scope: ColumnScope, { source, steps, at }: PipelineText): ColumnScope => {
    const first = source.kind === 'none' ? scope : attempt(() => planSource(source, { ...names, scope }, at).scope);
    return steps.reduce(
      (before, step) => {
        const after = attempt(() => planStep(step, { ...names, scope: before }).scope);
        return after instanceof AplError ? before : after;
      },
      first instanceof AplError ? EVENTS : first,
    );
  };
  // Before there are rows only search sees fields.
  return unfinished.reduce(behind, parser.hasFieldTerms ? EVENTS : closed([]));
}
