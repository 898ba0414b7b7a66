/** Bodies and query parameters by their schemas: what a refusal says. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { flagParameter, optionalTime, parameter, readBody, readQuery } from '../../src/service/http/read-request.ts';

const BODY = z.strictObject({
  name: z.string(),
  role: z.enum(['a', 'b']).nullish(),
  from: optionalTime,
  age: z.string().describe('such as 30d').nullish(),
});
const KEYS = 'wanted a JSON object with name (string), role (a, b), from (string), age (string, such as 30d)';

test.each([
  [BODY, { name: 'x', nam: 1, rôle: 2 }, `unknown keys "nam", "rôle"; ${KEYS}`],
  [BODY, { name: 1 }, `name: Invalid input: expected string, received number; ${KEYS}`],
  [BODY, undefined, `the body: Invalid input: expected object, received undefined; ${KEYS}`],
  [z.array(z.string()), {}, 'the body: Invalid input: expected array, received object; wanted an array of strings'],
])('a body that is not as its schema says is told what is wanted', (schema, body, message) => {
  expect(() => readBody<unknown>(schema, body)).toThrow(expect.objectContaining({ status: 400, message }));
});

const QUERY = z.object({ who: parameter('whose'), fresh: flagParameter('anew') });

test('an absent parameter is empty, a flag is 1 or true in any case, and other parameters are left out', () => {
  expect(readQuery(QUERY, {})).toEqual({ who: '', fresh: false });
  expect(readQuery(QUERY, { who: 'all', fresh: 'TRUE', other: ['1', '2'] })).toEqual({ who: 'all', fresh: true });
});

test.each([
  [{ fresh: 'yes' }, 'fresh "yes": wanted true or false'],
  [{ who: ['a', 'b'] }, 'the query parameter who is given 2 times'],
])('a parameter that is not as its schema says is refused', (query, message) => {
  expect(() => readQuery(QUERY, query)).toThrow(expect.objectContaining({ status: 400, message }));
});
