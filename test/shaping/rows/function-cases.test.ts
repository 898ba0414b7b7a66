/** The cases of the functions, computed of a row. */
import { expect, test } from 'vitest';
import { CASE_EVENT } from '../../language/function-cases.ts';
import { compileRows } from '../../../src/shaping/rows/program.ts';
import { writeJson } from '../../../src/json/numbers.ts';
import { FUNCTION_CASES } from '../../support/function-cases.ts';
import { context, rowOf } from './support.ts';

test.each(FUNCTION_CASES.filter(({ only, isQuery }) => only !== 'queries' && !isQuery))('$text', ({ text, result }) => {
  const [row] = compileRows(`project v = ${text}`, { from: 'test' }).run(rowOf(CASE_EVENT), context);
  expect(writeJson(row!.get('v') ?? null)).toBe(writeJson(result as never));
});
