/** Every function and operator on every kind of argument, in each place: an answer or a refusal, never a 500. */
import { expect, test } from 'vitest';
import type { ArgType, FunctionSpec } from '../../src/language/function-spec.ts';
import { AGGREGATE_FUNCTIONS, FUNCTIONS, OPERATORS } from '../../src/language/functions/table.ts';
import { serviceForSuite } from './support.ts';

const { client } = serviceForSuite(
  {},
  {
    logs: [
      { i: 1, f: 1.5, s: 'x', b: true, o: { k: 1 }, a: [1, 'x'], m: 1 },
      { m: 'text' },
      { m: [{ x: [] }] },
      { m: null },
      {},
    ],
  },
);

/** Calls in a query, which costs more than a call. Results that may be of any type are asked alone: the engine's work grows with their square. */
const callsAtOnce = ({ returns }: FunctionSpec): number =>
  typeof returns === 'string' && returns !== 'dynamic' ? 6 : 1;
/** One of each kind, constants and fields. */
const KINDS = [
  'dynamic({"k":{"l":[1,null,{}]}})',
  'dynamic({})',
  'dynamic([1,"x",null,{"k":1},[2]])',
  'dynamic([])',
  'dynamic(null)',
  'dynamic("x")',
  'true',
  'bool(null)',
  '0',
  '9223372036854775807',
  '-1',
  '0.5',
  'real(nan)',
  'real(+inf)',
  '""',
  '"a(b"',
  'datetime(2026-01-01)',
  'datetime(null)',
  '1h',
  'time(null)',
  'null',
  'i',
  'f',
  's',
  'b',
  'a',
  "['o.k']",
  'm',
  '_time',
  'absent',
] as const;
/** An argument that fits, beside the one that is drawn. */
const FITTING: Readonly<Record<ArgType, string>> = {
  any: 's',
  bool: 'b',
  int: 'i',
  number: 'f',
  string: 's',
  datetime: '_time',
  timespan: '1h',
  'constant string': '"x"',
  'constant int': '2',
  secret: '"x"',
  'secret or count': '2',
  constant: '"x"',
};

function callsOf({ args, rest, optional = 0 }: FunctionSpec, write: (args: readonly string[]) => string): string[] {
  const places = [...args, ...(rest === undefined ? [] : [rest])].map((type) => FITTING[type]);
  const drawn = places.flatMap((_, place) => KINDS.map((kind) => places.with(place, kind)));
  const alike = KINDS.map((kind) => places.map(() => kind));
  const short = optional > 0 ? KINDS.map((kind) => [kind, ...places.slice(1, args.length - optional)]) : [];
  // Where one place is drawn, all are alike, too: each call is asked once.
  return [...new Set([...drawn, ...alike, ...short].map((given) => write(given)))];
}
const rows = (calls: readonly string[]): string =>
  `logs\n${calls.map((call, n) => `| extend x${n} = ${call}\n`).join('')}| where ${calls.map((_, n) => `isnotnull(x${n})`).join(' or ')}\n| project ${calls.map((_, n) => `x${n}`).join(', ')}`;

type Write = (calls: readonly string[]) => string;

/** Each call is on a line of its own, from the second on: one query asks many, and a refusal names the line of the one that it leaves out. */
async function failuresOf(spec: FunctionSpec, calls: readonly string[], write: Write): Promise<string[]> {
  const most = callsAtOnce(spec);
  const groups = Array.from({ length: Math.ceil(calls.length / most) }, (_, n) =>
    calls.slice(n * most, (n + 1) * most),
  );
  const failures: string[] = [];
  for (const group of groups) failures.push(...(await failuresIn(group, write)));
  return failures;
}

async function failuresIn(group: readonly string[], write: Write): Promise<string[]> {
  for (let left = group; left.length > 0;) {
    const apl = write(left);
    const { status, text, json } = await client.call('POST', '/v1/query/_apl?format=tabular', { body: { apl } });
    if (status < 400) return [];
    if (left.length === 1) return status >= 500 ? [`${apl}\n  ${text}`] : [];
    const refused = status < 500 ? ((json['detail'] as { line?: number } | undefined)?.line ?? 0) - 2 : -1;
    if (left[refused] !== undefined) left = left.toSpliced(refused, 1);
    else {
      const half = Math.ceil(left.length / 2);
      const failures = [
        ...(await failuresIn(left.slice(0, half), write)),
        ...(await failuresIn(left.slice(half), write)),
      ];
      return failures.length === 0 && status >= 500 ? [`${apl}\n  ${text}`] : failures;
    }
  }
  return [];
}

test.each([...new Set(OPERATORS.values())].map((each) => [each.name, each] as const))(
  'operator %s',
  async (_name, operator) => {
    const unary = operator.args.length === 1;
    const calls = callsOf(operator, ([one, other]) =>
      unary ? `${operator.name}(${one})` : `(${one}) ${operator.name} (${other})`,
    );
    expect(await failuresOf(operator, calls, rows)).toEqual([]);
  },
);

test.each([...new Set(FUNCTIONS.values())].map((each) => [each.name, each] as const))(
  'function %s',
  async (_name, spec) => {
    const calls = callsOf(spec, (args) => `${spec.name}(${args.join(', ')})`);
    expect(await failuresOf(spec, calls, rows)).toEqual([]);
  },
);

test.each(AGGREGATE_FUNCTIONS.map((each) => [each.name, each] as const))('aggregation %s', async (_name, spec) => {
  const calls = callsOf(spec, (args) => args.join(', '));
  const write: Write = (given) =>
    `logs | summarize\n${given.map((args, n) => `x${n} = ${spec.name}(${args}), y${n} = ${spec.name}if(${args === '' ? 'b' : `${args}, b`})`).join(',\n')}\nby s`;
  expect(await failuresOf(spec, calls, write)).toEqual([]);
});
