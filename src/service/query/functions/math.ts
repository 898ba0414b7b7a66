/** Functions of numbers. What has no result (the root of -1) is null in replies. */
import { list, sql, type Sql } from '../sql/sql.ts';
import { one, oneRequired, type Value } from '../sql/value.ts';
import { commonType, type Call, type ScalarFunction } from './spec.ts';

const real = (name: string, doc: string, engine: Sql): ScalarFunction => ({
  names: [name], syntax: `${name}(number)`, doc, args: ['number'], returns: 'real', build: (call) => one('real', sql`${engine}(${call.real(0)})`),
}); // prettier-ignore

/** Whole numbers become integers, as far as they fit. */
const rounded = (names: readonly [string, ...string[]], doc: string, engine: Sql): ScalarFunction => ({
  names, syntax: `${names[0]}(number)`, doc, args: ['number'], returns: 'int',
  build: (call) => {
    const { kind, sql: number } = call.number(0);
    return one('int', kind === 'int' ? number : sql`accurateCastOrNull(${engine}(${number}), 'Int64')`);
  },
}); // prettier-ignore

/** Half goes away from zero. */
function round(call: Call): Value {
  const { kind, sql: number } = call.number(0);
  const digits = call.count === 2 ? Number(call.constant(1).value) : 0;
  if (digits < -15 || digits > 15) throw call.fail(1, 'wanted a number of digits from -15 to 15');
  if (kind === 'int' && digits >= 0) return one('int', number);
  const factor = sql`pow(10, ${digits})`;
  // Plus 0: of what rounds to nothing there is no negative.
  return one('real', sql`(sign(${number}) * floor(abs(${number}) * ${factor} + 0.5) / ${factor} + 0)`);
}

const check = (name: string, doc: string, test: (value: Sql) => Sql): ScalarFunction => ({
  names: [name], syntax: `${name}(number)`, doc, args: ['number'], returns: 'bool', build: (call) => one('bool', test(call.real(0))),
}); // prettier-ignore

const extreme = (name: string, engine: Sql, doc: string): ScalarFunction => ({
  names: [name], syntax: `${name}(a, b, …)`, doc, args: ['number'], rest: 'number', returns: commonType,
  build: (call) => {
    const numbers = Array.from({ length: call.count }, (_, n) => call.number(n));
    const whole = numbers.every(({ kind }) => kind === 'int');
    const values = numbers.map((number, n) => (whole ? number.sql : call.real(n)));
    // The engine leaves nulls out.
    return one(whole ? 'int' : 'real', sql`${engine}(${list(values)})`);
  },
}); // prettier-ignore

export const MATH: readonly ScalarFunction[] = [
  { names: ['abs'], syntax: 'abs(number)', doc: 'The number without its sign.', args: ['number'], returns: ([type]) => type,
    build: (call) => {
      const { kind, sql: number } = call.number(0);
      return one(kind, kind === 'int' ? sql`toInt64(abs(${number}))` : sql`abs(${number})`);
    } },
  { names: ['sign'], syntax: 'sign(number)', doc: '-1, 0 or 1.', args: ['number'], returns: 'int', build: (call) => one('int', sql`toInt64(sign(${call.number(0).sql}))`) },
  rounded(['floor'], 'The largest integer up to the number.', sql`floor`),
  rounded(['ceiling', 'ceil'], 'The smallest integer from the number on.', sql`ceil`),
  { names: ['round'], syntax: 'round(number, digits)', doc: 'The number rounded to that many digits behind the point, half away from zero.', args: ['number', 'constant int'], optional: 1,
    returns: 'real', build: round },
  real('sqrt', 'The square root.', sql`sqrt`),
  real('exp', 'e to the power of the number.', sql`exp`),
  real('exp2', '2 to the power of the number.', sql`exp2`),
  real('exp10', '10 to the power of the number.', sql`exp10`),
  real('log', 'The natural logarithm.', sql`log`),
  real('log2', 'The logarithm to base 2.', sql`log2`),
  real('log10', 'The logarithm to base 10.', sql`log10`),
  real('sin', 'The sine of radians.', sql`sin`),
  real('cos', 'The cosine of radians.', sql`cos`),
  real('tan', 'The tangent of radians.', sql`tan`),
  real('asin', 'The angle in radians whose sine it is.', sql`asin`),
  real('acos', 'The angle in radians whose cosine it is.', sql`acos`),
  real('atan', 'The angle in radians whose tangent it is.', sql`atan`),
  real('radians', 'Degrees as radians.', sql`radians`),
  real('degrees', 'Radians as degrees.', sql`degrees`),
  { names: ['atan2'], syntax: 'atan2(y, x)', doc: 'The angle in radians of the point.', args: ['number', 'number'], returns: 'real', build: (call) => one('real', sql`atan2(${call.real(0)}, ${call.real(1)})`) },
  { names: ['pow'], syntax: 'pow(base, exponent)', doc: 'The base to the power of the exponent.', args: ['number', 'number'], returns: 'real', build: (call) => one('real', sql`pow(${call.real(0)}, ${call.real(1)})`) },
  { names: ['pi'], syntax: 'pi()', doc: 'π.', args: [], returns: 'real', build: () => oneRequired('real', sql`pi()`) },
  { names: ['rand'], syntax: 'rand()', doc: 'A random number from 0 up to 1, another one for every row.', args: [], returns: 'real', build: () => oneRequired('real', sql`randCanonical()`) },
  check('isnan', 'The number is none (NaN).', (value) => sql`isNaN(${value})`),
  check('isinf', 'The number is infinite.', (value) => sql`isInfinite(${value})`),
  check('isfinite', 'The number is neither infinite nor NaN.', (value) => sql`isFinite(${value})`),
  { names: ['isint'], syntax: 'isint(value)', doc: 'The value is an integer.', args: ['any'], returns: 'bool',
    build: (call) => oneRequired('bool', call.value(0).facets.int ? sql`isNotNull(${call.value(0).facets.int!})` : sql`false`) },
  extreme('min_of', sql`least`, 'The least of the numbers that are there.'),
  extreme('max_of', sql`greatest`, 'The greatest of the numbers that are there.'),
]; // prettier-ignore
