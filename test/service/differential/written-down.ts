/** Calls of functions whose results were computed by hand: which one is up to chance, and by which of its names it is called. */
import * as fc from 'fast-check';
import { CASE_EVENT } from '../../language/function-cases.ts';
import { FUNCTIONS } from '../../../src/language/functions/table.ts';
import { readExpression } from '../../../src/language/syntax/expressions.ts';
import { Parser } from '../../../src/language/syntax/parser.ts';
import { writeJson } from '../../../src/json/numbers.ts';
import { FUNCTION_CASES } from '../../support/function-cases.ts';
import { string, type Expression } from './expression.ts';

const fields = new Set(Object.keys(JSON.parse(CASE_EVENT) as object));

function namesNoField(text: string): boolean {
  const parser = new Parser(text);
  readExpression(parser);
  return ![...parser.fields.keys()].some((name) => fields.has(name));
}

const cases = Map.groupBy(
  FUNCTION_CASES.filter(({ only, isQuery, text }) => only === undefined && !isQuery && namesNoField(text)),
  ({ name }) => name,
);
/** By name, so that one with few cases is drawn as often as one with many. */
const names = [...FUNCTIONS].filter(([, { name }]) => cases.has(name));

export const writtenDown: fc.Arbitrary<Expression> = fc.constantFrom(...names).chain(([other, { name }]) =>
  fc.constantFrom(...cases.get(name)!).map(({ text, called, result }) => {
    const whole = text.startsWith(`${called}(`) ? `${other}${text.slice(called.length)}` : text;
    return string(`dynamic_to_json(${whole})`, () => (result === null ? null : writeJson(result)));
  }),
);
