/** Calls of functions whose results were computed by hand: which one is up to chance, and by which of its names it is called. */
import * as fc from 'fast-check';
import { FUNCTIONS } from '../../../src/language/functions/table.ts';
import { FUNCTION_CASES, type FunctionCase } from '../conformance/function-cases.ts';
import { string, type Expression } from './expression.ts';

/** By the function that they begin with, so that one with few cases is drawn as often as one with many. */
const byFunction = new Map<string, FunctionCase[]>();
for (const each of FUNCTION_CASES.flatMap(([, cases]) => cases)) {
  const name = FUNCTIONS.get(/^\w+/.exec(each[0])?.[0] ?? '')?.name ?? '';
  byFunction.set(name, [...(byFunction.get(name) ?? []), each]);
}

export const writtenDown: fc.Arbitrary<Expression> = fc.constantFrom(...byFunction).chain(([name, cases]) =>
  fc.tuple(fc.constantFrom(...cases), fc.constantFrom(...(FUNCTIONS.get(name)?.names ?? ['']))).map(([[text, wanted], called]) => {
    const whole = called === '' ? text : text.replace(/^\w+/, called);
    return string(`dynamic_to_json(${whole})`, () => (wanted === null ? null : JSON.stringify(wanted)));
  }),
);
