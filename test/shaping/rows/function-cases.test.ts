/** The cases that queries are held against, computed of a row. */
import { expect, test } from 'vitest';
import { compileRows } from '../../../src/shaping/rows/program.ts';
import { writeJson } from '../../../src/json/numbers.ts';
import { FUNCTION_CASES } from '../../service/conformance/function-cases.ts';
import { context, rowOf } from './support.ts';

test.each(FUNCTION_CASES.flatMap(([group, cases]) => cases.map(([expression, wanted]) => [group, expression, wanted] as const)))(
  '%s: %s',
  (_group, expression, wanted) => {
    const [row] = compileRows(`project v = ${expression}`, { from: 'test' }).run(rowOf('{}'), context);
    expect(writeJson(row!.get('v') ?? null)).toBe(JSON.stringify(wanted));
  },
);
