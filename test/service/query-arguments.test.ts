/** Every function and operator on every kind of argument, in each place: an answer or a refusal, never a 500. */
import { expect, test } from 'vitest';
import type { ArgType, FunctionSpec } from '../../src/language/function-spec.ts';
import { AGGREGATE_FUNCTIONS, FUNCTIONS, OPERATORS } from '../../src/language/functions/table.ts';
import { serviceForSuite } from './support.ts';

const { client } = serviceForSuite(
  {},
  { logs: [{ i: 1, f: 1.5, s: 'x', b: true, o: { k: 1 }, a: [1, 'x'], m: 1 }, { m: 'text' }, { m: [{ x: [] }] }, { m: null }, {}] },
);

/** One of each kind, constants and fields. */
const KINDS = [
  'dynamic({"k":{"l":[1,null,{}]}})', 'dynamic({})', 'dynamic([1,"x",null,{"k":1},[2]])', 'dynamic([])', 'dynamic(null)', 'dynamic("x")', 'true',
  'bool(null)', '0', '9223372036854775807', '-1', '0.5', 'real(nan)', 'real(+inf)', '""', '"a(b"', 'datetime(2026-01-01)', 'datetime(null)', '1h', 'time(null)', 'null',
  'i', 'f', 's', 'b', 'a', "['o.k']", 'm', '_time', 'absent',
] as const; // prettier-ignore
/** An argument that fits, beside the one that is drawn. */
const FITTING: Readonly<Record<ArgType, string>> = {
  any: 's', bool: 'b', int: 'i', number: 'f', string: 's', datetime: '_time', timespan: '1h', 'constant string': '"x"', 'constant int': '2',
  secret: '"x"', 'secret or count': '2', constant: '"x"',
}; // prettier-ignore

function callsOf({ args, rest, optional = 0 }: FunctionSpec, write: (args: readonly string[]) => string): string[] {
  const places = [...args, ...(rest === undefined ? [] : [rest])].map((type) => FITTING[type]);
  const drawn = places.flatMap((_, place) => KINDS.map((kind) => places.with(place, kind)));
  const alike = KINDS.map((kind) => places.map(() => kind));
  const short = optional > 0 ? KINDS.map((kind) => [kind, ...places.slice(1, args.length - optional)]) : [];
  return [...drawn, ...alike, ...short].map((given) => write(given));
}
const scalar = (text: string): string => `logs | extend x = ${text} | where isnotnull(x) | project x`;

async function failuresOf(texts: readonly string[]): Promise<string[]> {
  const failures: string[] = [];
  for (const apl of texts) {
    const { status, text } = await client.call('POST', '/v1/query/_apl?format=tabular', { body: { apl } });
    if (status >= 500) failures.push(`${apl}\n  ${text}`);
  }
  return failures;
}

test.each([...new Set(OPERATORS.values())].map((each) => [each.name, each] as const))('operator %s', async (_name, operator) => {
  const unary = operator.args.length === 1;
  const texts = callsOf(operator, ([one, other]) => (unary ? `${operator.name}(${one})` : `(${one}) ${operator.name} (${other})`));
  expect(await failuresOf(texts.map(scalar))).toEqual([]);
});

test.each([...new Set(FUNCTIONS.values())].map((each) => [each.name, each] as const))('function %s', async (_name, spec) => {
  expect(await failuresOf(callsOf(spec, (args) => scalar(`${spec.name}(${args.join(', ')})`)))).toEqual([]);
});

test.each(AGGREGATE_FUNCTIONS.map((each) => [each.name, each] as const))('aggregation %s', async (_name, spec) => {
  const texts = callsOf(
    spec,
    (args) => `logs | summarize x = ${spec.name}(${args.join(', ')}), y = ${spec.name}if(${[...args, 'b'].join(', ')}) by s`,
  );
  expect(await failuresOf(texts)).toEqual([]);
});
