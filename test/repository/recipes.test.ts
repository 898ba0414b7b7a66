/** The recipes of CONTRIBUTING.md for a function, an operator and an endpoint, followed in a copy of the tree. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkLayers } from '../../scripts/check-layers.ts';
import { copyWith, read, run, types } from './tree-copy.ts';

const TOYS = 'src/language/functions/toys';
const TOY_FUNCTION = {
  [`${TOYS}/spec.ts`]: `/** Toys. */
import type { FunctionTable } from '../../function-spec.ts';

export const TOYS = {
  triple: { syntax: 'triple(number)', doc: 'Multiplies by three.', args: ['int'], returns: 'int' },
} satisfies FunctionTable;
`,
  [`${TOYS}/sql.ts`]: `/** Toys. */
import type { SqlBuilders } from '../../../service/query/values/call.ts';
import { sql } from '../../../service/query/values/sql.ts';
import { one } from '../../../service/query/values/value.ts';
import type { TOYS } from './spec.ts';

export const TOYS_SQL: SqlBuilders<typeof TOYS> = { triple: (call) => one('int', sql\`(\${call.int(0)} * 3)\`) };
`,
  [`${TOYS}/rows.ts`]: `/** Toys. */
import type { RowBuilders } from '../../../shaping/rows/call/call.ts';
import { ofInt } from '../../../shaping/rows/call/lift.ts';
import type { TOYS } from './spec.ts';

export const TOYS_ROWS: RowBuilders<typeof TOYS> = { triple: ofInt((value) => value * 3n) };
`,
  ['test/language/functions/toys.ts']: `/** What toys give. */
import type { FunctionCases } from '../function-cases.ts';
import type { TOYS } from '../../../src/language/functions/toys/spec.ts';

export const TOYS_CASES: FunctionCases<typeof TOYS> = { triple: [['2', 6], ['long(null)', null]] };
`,
  'try.ts': `import { compileRows } from './src/shaping/rows/program.ts';
import { parseAndCompile } from './test/service/hostile/compile.ts';
const [row] = compileRows('project v = triple(a)', { from: 'try' }).run(new Map([['a', 2n]]), {} as never);
console.log(String(row!.get('v')), parseAndCompile('print v = triple(2)').kind);
`,
};

test('a function is one folder and one line', () => {
  const copy = copyWith(TOY_FUNCTION, ['src/language/functions/topics.ts', "{ name: 'toys', title: 'Toys' }"]);
  expect(run(copy, 'scripts/generate.ts')).toContain('written: ');
  expect(read(copy, 'docs/query.md')).toContain('| `triple(number)` | Multiplies by three. |');
  expect(read(copy, 'docs/query-examples.md')).toContain('triple(2) → 6');
  expect(run(copy, 'try.ts')).toBe('6 compiled');
  expect(types(copy)).toBe('');
  expect(checkLayers(copy).filter((violation) => /toys|more than/.test(violation))).toEqual([]);
  // Without one back end it does not compile.
  rmSync(join(copy, `${TOYS}/rows.ts`));
  run(copy, 'scripts/generate.ts');
  expect(types(copy)).toMatch(/src\/shaping\/rows\/functions\.ts.*\n?.*triple/);
});

const TOY_OPERATOR = {
  'src/language/operators/oldest/spec.ts': `/** oldest: the rows that came first. */
import { analyze } from '../../plan/analysis.ts';
import { operator, type Operator } from '../../plan/operator.ts';

export const OLDEST: readonly Operator[] = [
  operator({
    names: ['oldest'],
    only: 'queries',
    syntax: 'oldest <count>',
    doc: 'Keeps the oldest rows.',
    read: (parser, at) => ({ at, count: parser.count('a number of rows after oldest') }),
    plan({ at, count }, names) {
      const node = analyze({ kind: 'name', at, name: '_time' }, names);
      const sorted = { kind: 'sort', keys: [{ node, name: '_time', desc: false, nullsFirst: false }] } as const;
      return { stages: [sorted, { kind: 'limit', count, exactly: true }], scope: names.scope };
    },
  }),
];
`,
  'try.ts': `import { parseAndCompile } from './test/service/hostile/compile.ts';
console.log(parseAndCompile("['logs'] | oldest 3").kind, parseAndCompile("['logs'] | oldest x").message);
`,
};

test('an operator is one folder and one line', () => {
  const copy = copyWith(TOY_OPERATOR, ['src/language/operators/topics.ts', "'oldest'"]);
  expect(run(copy, 'scripts/generate.ts')).toContain('written: ');
  expect(read(copy, 'docs/query.md')).toContain('| `oldest <count>` | Keeps the oldest rows. *In queries only.* |');
  expect(run(copy, 'try.ts')).toMatch(/^compiled .*wanted a number of rows after oldest/);
  expect(types(copy)).toBe('');
  expect(checkLayers(copy).filter((violation) => violation.includes('oldest'))).toEqual([]);
});

const TOY_ENDPOINT = {
  'tsconfig.service.json': JSON.stringify({
    extends: './tsconfig.json',
    include: [],
    files: ['src/service/run/service.ts'],
  }),
  'src/service/api/toys.ts': `/** /v2/toys: toys. */
import { z } from 'zod';
import { group } from './endpoint.ts';

const CHANGES = z.strictObject({ name: z.string().min(1) });
const TOY = z.strictObject({ id: z.string(), name: z.string() });

export const toys = group('toys', { Toy: TOY }, (endpoint, _parts: object) => {
  const need = { kind: 'org', area: 'datasets', action: 'update' } as const;
  endpoint('PUT /v2/toys/:toy', { summary: 'Names a toy', need, body: CHANGES, reply: TOY }, ({ params, body }) => ({
    id: params.toy,
    name: body().name,
  }));
});
`,
  'try.ts': `import { openAuth } from './src/service/auth/auth.ts';
import { describeApi } from './src/service/http/openapi.ts';
import { openMetadata } from './src/service/metadata.ts';
import { createServer } from './src/service/run/server.ts';
import { ENDPOINT_GROUPS } from './src/service/api/groups.ts';
const auth = openAuth(openMetadata('data', false), {}, new Date());
const server = createServer({ auth, rateLimit: { count: () => ({}) }, headerPrefix: 'X-', ownHosts: [], corsOrigins: new Set(), log: console, requestSeconds: 9, leastRate: { rate: 1, afterMs: 9000 }, countRequest() {} } as never);
describeApi(server, 'X-');
(ENDPOINT_GROUPS.at(-1)!.bind as (to: typeof server, parts: object) => void)(server, {});
const { apiToken, ingestToken } = auth.credentials;
const url = await server.listen({ port: 0, host: '127.0.0.1' });
for (const [token, body] of [[ingestToken, {}], [apiToken, { name: 'a', nam: 'b' }], [apiToken, { name: 'a' }]] as const)
  console.log(await (await fetch(url + '/v2/toys/1', { method: 'PUT', body: JSON.stringify(body), headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json' } })).text());
console.log((await (await fetch(url + '/openapi.json')).json()).paths['/v2/toys/{toy}'].put.summary);
await server.close();
`,
};

test('a group of endpoints is one file and its line', () => {
  const path = 'src/service/api/groups.ts';
  const copy = copyWith(TOY_ENDPOINT, [path, 'toys']);
  writeFileSync(join(copy, path), `import { toys } from './toys.ts';\n${read(copy, path)}`);
  expect(run(copy, 'scripts/generate.ts')).toContain('src/client/api-types.ts');
  expect(read(copy, 'src/client/api-types.ts')).toContain(
    'export interface Toy {\n  readonly id: string; readonly name: string;\n}',
  );
  expect(run(copy, 'try.ts').split('\n')).toEqual([
    '{"code":403,"message":"the token may not update datasets"}',
    '{"code":400,"message":"unknown key \\"nam\\"; wanted a JSON object with name (string)"}',
    '{"id":"1","name":"a"}',
    'Names a toy',
  ]);
  expect(types(copy, 'tsconfig.service.json')).toBe('');
  expect(checkLayers(copy).filter((violation) => /toys|more than/.test(violation))).toEqual([]);
  // A reply that is not as its schema says does not compile.
  writeFileSync(
    join(copy, 'src/service/api/toys.ts'),
    read(copy, 'src/service/api/toys.ts').replace('id: params.toy', 'key: params.toy'),
  );
  expect(types(copy, 'tsconfig.service.json')).toMatch(/src\/service\/api\/toys\.ts/);
});
