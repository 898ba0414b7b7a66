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

/** Calls in a query, which costs more than a call. Of results that may be of any type, few: the engine's work grows with their square. */
const callsAtOnce = ({ returns }: FunctionSpec): number =>
  typeof returns === 'string' && returns !== 'dynamic' ? 16 : 4;
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

/**
 * Each call is on a line of its own, from the second on: one query asks many, and a refusal names the line of the first that it refuses. Those before
 * that one are asked with others that are not refused.
 */
async function failuresOf(spec: FunctionSpec, calls: readonly string[], write: Write): Promise<string[]> {
  const most = callsAtOnce(spec);
  const failures: string[] = [];
  const accepted: string[] = [];
  const askAccepted = async (least: number): Promise<void> => {
    while (accepted.length >= least) failures.push(...(await failuresIn(accepted.splice(0, most), write)));
  };
  for (let left = calls; left.length > 0;) {
    const group = left.slice(0, most);
    left = left.slice(most);
    const { status, refused } = await ask(group, write);
    if (refused !== undefined) {
      accepted.push(...group.slice(0, refused));
      left = [...group.slice(refused + 1), ...left];
    } else if (status >= 400) failures.push(...(await failuresIn(group, write)));
    await askAccepted(most);
  }
  await askAccepted(1);
  return failures;
}

/** Those that fail, found by halves. */
async function failuresIn(group: readonly string[], write: Write): Promise<string[]> {
  const { status, apl, text } = await ask(group, write);
  if (status < 400) return [];
  const failures: string[] = [];
  const half = Math.ceil(group.length / 2);
  if (group.length > 1)
    for (const part of [group.slice(0, half), group.slice(half)]) failures.push(...(await failuresIn(part, write)));
  return failures.length === 0 && status >= 500 ? [`${apl}\n  ${text}`] : failures;
}

/** `refused`: the place of the first call that the query was refused for. */
async function ask(
  group: readonly string[],
  write: Write,
): Promise<{ apl: string; status: number; text: string; refused?: number }> {
  const apl = write(group);
  const { status, text, json } = await client.call('POST', '/v1/query/_apl?format=tabular', { body: { apl } });
  const refused =
    status >= 400 && status < 500 ? ((json['detail'] as { line?: number } | undefined)?.line ?? 0) - 2 : -1;
  return { apl, status, text, ...(group[refused] !== undefined && { refused }) };
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
