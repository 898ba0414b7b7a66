/** Calls of functions whose results were computed by hand: which one is up to chance. */
import * as fc from 'fast-check';
import { FUNCTION_CASES } from '../conformance/function-cases.ts';
import { string, type Expression } from './expression.ts';

const all = FUNCTION_CASES.flatMap(([, cases]) => cases);

export const writtenDown: fc.Arbitrary<Expression> = fc
  .constantFrom(...all)
  .map(([text, wanted]) => string(`dynamic_to_json(${text})`, () => (wanted === null ? null : JSON.stringify(wanted))));
