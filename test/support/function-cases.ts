/** The cases of all functions and aggregations, with their whole texts. */
import { AGGREGATES_CASES } from '../language/functions/aggregates.ts';
import { AGGREGATES } from '../../src/language/functions/aggregates/spec.ts';
import { CASES } from '../language/functions/all.ts';
import { SPECS } from '../../src/language/functions/specs.ts';
import { TOPICS } from '../../src/language/functions/topics.ts';
import { writtenCases } from '../language/function-cases.ts';

export const CASES_BY_TOPIC = [
  ...TOPICS.map(({ name }) => [name, writtenCases(SPECS[name], CASES[name])] as const),
  ['aggregates', writtenCases(AGGREGATES, AGGREGATES_CASES)] as const,
];
export const FUNCTION_CASES = CASES_BY_TOPIC.flatMap(([, cases]) => cases);

/** As JSON.parse reads it, which knows no integers beyond 2^53. */
export const plainResult = (result: unknown): unknown => (typeof result === 'bigint' ? Number(result) : result);
