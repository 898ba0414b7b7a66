/** Query texts that nobody means well with: calls of every function with whatever fits its types, token soups, and queries with pieces changed. */
import * as fc from 'fast-check';
import type { ArgType } from '../../../src/language/function-spec.ts';
import { AGGREGATE_FUNCTIONS, FUNCTIONS, OPERATORS } from '../../../src/language/functions/table.ts';
import { QUERY_OPERATORS } from '../../../src/language/operators/table.ts';
import { words } from '../../support/words.ts';

/** The mark in every name and text that a user chooses, and in nothing else: it must never be in SQL. */
export const MARK = 'zqxmark';

const nasty = ["'", '"', '\\', '\0', '\n', '`', ';', '--', '/*', '*/', '{p0:String}', '%', '$1', '\u{1F600}', '\uD800', ')', '(', ']', "' or 1=1 --", '\\x00', "'; drop table ds_9; --", 'é'] as const; // prettier-ignore
/** A text of a user: the mark with trouble around it. */
const given = fc
  .array(fc.oneof(fc.constantFrom(...nasty), fc.constant(MARK)), { maxLength: 3 })
  .map((parts) => parts.join('') + MARK);
const quoted = given.map((text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`);

const integer = fc.oneof(
  fc.integer({ min: -3, max: 12 }).map(String),
  fc.constantFrom('0', '-1', '9223372036854775807', '1000000', '-9223372036854775807'),
);
const real = fc.constantFrom('0.5', '-1.25', '1e308', '-1e-300', 'real(0)', '0.0');
const span = fc.constantFrom('1h', '0s', '1ns', '-1d', '100000d', '1.5ms', 'timespan(null)');
const time = fc.constantFrom(
  ...words`_time now() ago(1h) datetime(1900-01-01) datetime(2262-04-11) datetime(null)`,
  'datetime(1969-12-31 23:59:59.999999999)',
);
const truth = fc.constantFrom('true', 'false', 'd', 'bool(null)', 'a > 1', 'isnull(m)');
const field = fc.constantFrom(
  ...words`a b c d m j _time _sysTime _rowId never`,
  `['${MARK} never']`,
  'o.p',
  'j[0]',
  'j[1].x',
  'm[a]',
);
const dynamic = fc.constantFrom(
  'dynamic([1])',
  'dynamic([])',
  'dynamic({"a": [1, null]})',
  'dynamic(null)',
  `dynamic(["${MARK}", 1.5, [true]])`,
);
const regex = fc
  .constantFrom('.*', '(a)(b)?', '[', '(?i)x', '\\d+', '(', 'a{1000}', '(?P<n>a)', '^$', '\\x{110000}')
  .map((text) => `@'${text}'`);
/** Parts of datetimes, as `datetime_add` and its kin want them. */
const unit = fc.constantFrom("'day'", "'month'", "'year'", "'nanosecond'", "'week'", "'eon'", "''");

function argument(type: ArgType, depth: number): fc.Arbitrary<string> {
  const inner = depth > 0 ? [call(depth - 1)] : [];
  switch (type) {
    case 'bool':
      return fc.oneof(truth, field);
    case 'int':
    case 'constant int':
      return fc.oneof(integer, field);
    case 'number':
      return fc.oneof(integer, real, field, ...inner);
    case 'string':
    case 'constant string':
      return fc.oneof(quoted, regex, field, unit, ...inner);
    case 'datetime':
      return fc.oneof(time, field);
    case 'timespan':
      return fc.oneof(span, field);
    case 'constant':
      return fc.oneof(integer, span, real, dynamic);
    case 'secret':
      return fc.oneof(fc.constantFrom("env('KEY')", "secret_file('/nowhere')"), quoted);
    case 'secret or count':
      return fc.oneof(integer, fc.constant("env('KEY')"));
    case 'any':
      return fc.oneof(field, quoted, integer, real, span, time, truth, dynamic, ...inner);
  }
}

const specs = [...new Set(FUNCTIONS.values())];
const signs = [...OPERATORS.keys()].filter(
  (sign) => /^[-+*/%=<>!]+~?$/.test(sign) || /^!?(?:contains|startswith|endswith|has)(?:_cs)?$/.test(sign),
);

/** A function with arguments of its types, most of them at least. */
function call(depth: number): fc.Arbitrary<string> {
  const ofFunction = fc.constantFrom(...specs).chain((spec) => {
    const types = [...spec.args, ...(spec.rest ? [spec.rest, spec.rest] : [])];
    return fc.tuple(fc.integer({ min: spec.args.length - (spec.optional ?? 0), max: types.length }), fc.tuple(...types.map((type) => argument(type, depth))))
      .map(([count, args]) => `${spec.names[0]}(${args.slice(0, count).join(', ')})`);
  });
  const ofOperator = fc.tuple(argument('any', depth), fc.constantFrom(...signs), argument('any', depth)).map(([a, sign, b]) => `(${a} ${sign} ${b})`);
  const ofList = fc.tuple(argument('any', depth), fc.constantFrom('in', '!in', 'in~', 'has_any', 'has_all'), fc.array(argument('any', 0), { maxLength: 3 })).map(([a, word, list]) => `(${a} ${word} (${list.join(', ')}))`);
  return fc.oneof({ arbitrary: ofFunction, weight: 4 }, ofOperator, ofList);
} // prettier-ignore

const aggregate = fc.constantFrom(...AGGREGATE_FUNCTIONS).chain((spec) => {
  const types = [...spec.args, ...(spec.rest ? [spec.rest] : [])];
  return fc
    .tuple(fc.tuple(...types.map((type) => argument(type, 1))), fc.option(truth), fc.integer({ min: spec.args.length - (spec.optional ?? 0), max: types.length }))
    .map(([args, test, count]) => {
      const some = args.slice(0, count);
      return test === null || some.length === 0 || spec.names[0] === 'countif' ? `${spec.names[0]}(${some.join(', ')})` : `${spec.names[0]}if(${some.join(', ')}, ${test})`;
    });
}); // prettier-ignore

const rowAggregate = fc
  .tuple(fc.constantFrom('arg_max', 'arg_min'), argument('any', 1), fc.oneof(field, fc.constant('*')))
  .map(([name, by, take]) => `${name}(${by}, ${take})`);
const key = fc.oneof(field, call(0), fc.constantFrom('bin(_time, 5s)', 'bin_auto(_time)', 'bin(a, 2)', 'bin(b, 0.5)'));
const name = fc.oneof(fc.constantFrom('x', 'y', '_time', 'a', 'm'), fc.constant(`['${MARK} x']`));

const step = fc.oneof(
  call(1).map((text) => `where ${text}`),
  fc.tuple(name, call(2)).map(([as, text]) => `extend ${as} = ${text}`),
  fc.tuple(name, call(1), field).map(([as, text, other]) => `project ${as} = ${text}, ${other}`),
  fc.tuple(fc.array(fc.oneof(aggregate, aggregate, rowAggregate), { minLength: 1, maxLength: 3 }), fc.array(key, { maxLength: 2 })).map(([list, by]) => `summarize ${list.join(', ')}${by.length > 0 ? ` by ${by.join(', ')}` : ''}`),
  fc.tuple(call(1), fc.constantFrom('asc', 'desc', '', 'asc nulls first')).map(([text, way]) => `sort by ${text} ${way}`),
  fc.tuple(fc.nat(20), field).map(([count, by]) => `top ${count} by ${by}`),
  fc.nat(20).map((count) => `take ${count}`),
  fc.array(field, { minLength: 1, maxLength: 2 }).map((list) => `distinct ${list.join(', ')}`),
  fc.constantFrom('count', 'project-away a, j*', 'project a, b, c, d, m', 'project-keep a, j*, never', 'project-rename x = a, a = x', 'sample 3', 'mv-expand j', 'mv-expand with_itemindex=x j, m to typeof(long) limit 3'),
  fc.constantFrom('getschema', 'project-reorder m, j*', 'render timechart', 'sample-distinct 2 of m', 'make-series count() default=null on _time step 1h by a', 'top-nested 2 of a by count(), top-nested 1 of m by max(b)', 'serialize', 'as x'),
  fc.constantFrom('inner', 'innerunique', 'leftouter', 'rightouter', 'fullouter', 'leftsemi', 'leftanti', 'rightsemi', 'rightanti').chain((kind) => fc.constantFrom('a', 'm', 'c, d', '$left.a == $right.b', 'never', `['${MARK} never']`).map((on) => `join kind=${kind} (['#'] | where a > 1 | take 5) on ${on}`)),
  fc.constantFrom("union ['#']", "union withsource=x (['#'] | project a, m), ['#']", "union kind=inner (['#'] | summarize count() by a)", "lookup (['#'] | project a, z = b) on a", "where a in (['#'] | project m)", "extend x = toscalar(['#'] | count)", "where c !in~ (['#'] | project c)"),
  quoted.map((text) => `search ${text}`),
  fc.tuple(argument('any', 1), fc.constantFrom('row_number()', 'row_cumsum(a)', 'next(m)')).map(([value, other]) => `extend x = prev(${value}, 2, ${value}), y = ${other}`),
  fc.tuple(fc.constantFrom('parse', 'parse-where', 'parse kind=regex', 'parse kind=relaxed'), argument('string', 1), quoted, quoted).map(([word, of, first, last]) => `${word} ${of} with * ${first} x:long ${last} y`),
  fc.tuple(argument('string', 1), quoted, quoted).map(([of, pair, kv]) => `parse-kv ${of} as (a:long, ['${MARK} key']) with (pair_delimiter=${pair}, kv_delimiter=${kv})`),
); // prettier-ignore

/** Queries of which most are right by syntax, and many by meaning. The dataset's name is `#`. */
/** An expression with calls in it. */
export const expression = call(2);
export const likely = fc.array(step, { minLength: 1, maxLength: 4 }).map((steps) => `['#'] | ${steps.join(' | ')}`);

const known = [
  ...FUNCTIONS.keys(),
  ...OPERATORS.keys(),
  ...QUERY_OPERATORS.flatMap(({ names }) => names),
  ...words`by asc let dynamic datetime null between regex ['#']`,
];
const token = fc.oneof(
  fc.constantFrom(...known),
  fc.constantFrom(
    '|',
    '(',
    ')',
    '[',
    ']',
    ',',
    '=',
    '==',
    '..',
    '.',
    '*',
    '-',
    ';',
    '{',
    '}',
    ':',
    '//',
    '@',
    '!',
    '~',
    '\n',
  ),
  fc.constantFrom(...nasty),
  quoted,
  integer,
  real,
  span,
  field,
);
const soup = fc.array(token, { maxLength: 25 }).map((tokens) => tokens.join(' '));

/** A likely query with one piece cut, doubled or replaced. */
const changed = fc.tuple(likely, fc.nat(), fc.nat(12), fc.constantFrom('', '|', '(', ')', "'", '"', ' by ', ',', '\0', '1', '=', '@', '!', '9'.repeat(30))).map(([text, at, length, put]) => {
  const from = text.length === 0 ? 0 : at % text.length;
  return text.slice(0, from) + put + text.slice(from + length);
}); // prettier-ignore

export const anything = fc.oneof(
  soup,
  changed,
  fc.string({ maxLength: 60, unit: 'binary' }),
  soup.map((text) => `['#'] | ${text}`),
);
