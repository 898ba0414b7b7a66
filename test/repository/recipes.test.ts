/** The recipes of CONTRIBUTING.md for a function and an operator, followed in a copy of the tree. */
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkLayers } from '../../scripts/check-layers.ts';
import { makeTree } from '../support/temp-tree.ts';

const root = join(import.meta.dirname, '../..');
const COPIED = [
  'src',
  'scripts',
  'test/service/hostile',
  'test/support',
  'docs',
  'config.example.yaml',
  'package-lock.json',
  'package.json',
  'tsconfig.json',
];
/** The back ends with all that they import. */
const TSCONFIG = JSON.stringify({
  extends: './tsconfig.json',
  include: [],
  files: ['src/service/query/sql/functions.ts', 'src/shaping/rows/functions.ts', 'src/language/operators/table.ts'],
});

function copyWith(files: Readonly<Record<string, string>>, line: readonly [path: string, added: string]): string {
  const copy = makeTree({ ...files, 'tsconfig.parts.json': TSCONFIG });
  for (const path of COPIED) cpSync(join(root, path), join(copy, path), { recursive: true, filter: (from) => !/node_modules|dist/.test(from) });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const [path, added] = line;
  const text = readFileSync(join(copy, path), 'utf8');
  writeFileSync(join(copy, path), text.replace('] as const;', `  ${added},\n] as const;`));
  return copy;
} // prettier-ignore

function run(copy: string, ...args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' });
  return `${stdout}${stderr}`.trim();
}

const types = (copy: string): string => run(copy, join(root, 'node_modules/typescript/bin/tsc'), '--project', 'tsconfig.parts.json');
const read = (copy: string, path: string): string => readFileSync(join(copy, path), 'utf8');

const TOYS = 'src/language/functions/toys';
const TOY_FUNCTION = {
  [`${TOYS}/spec.ts`]: `/** Toys. */
import type { FunctionTable } from '../../function-spec.ts';

export const TOYS = {
  triple: { syntax: 'triple(number)', doc: 'Multiplies by three.', args: ['int'], returns: 'int' },
} satisfies FunctionTable;
`,
  [`${TOYS}/sql.ts`]: `/** Toys. */
import type { Builders } from '../../../service/query/values/call.ts';
import { sql } from '../../../service/query/values/sql.ts';
import { one } from '../../../service/query/values/value.ts';
import type { TOYS } from './spec.ts';

export const TOYS_SQL: Builders<typeof TOYS> = { triple: (call) => one('int', sql\`(\${call.int(0)} * 3)\`) };
`,
  [`${TOYS}/rows.ts`]: `/** Toys. */
import type { Builders } from '../../../shaping/rows/call/call.ts';
import { ofInt } from '../../../shaping/rows/call/lift.ts';
import type { TOYS } from './spec.ts';

export const TOYS_ROWS: Builders<typeof TOYS> = { triple: ofInt((value) => value * 3n) };
`,
  [`${TOYS}/cases.ts`]: `/** What toys give. */
import type { FunctionCases } from '../../function-cases.ts';
import type { TOYS } from './spec.ts';

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
  expect(checkLayers(copy).filter((violation) => violation.includes('toys'))).toEqual([]);
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
