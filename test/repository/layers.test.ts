import { expect, test } from 'vitest';
import { checkLayers } from '../../scripts/check-layers.ts';
import { makeTree } from '../support/temp-tree.ts';

/** A tree in which everything is in order; each test plants one violation in it. */
const sound = {
  'src/main.ts': "import { run } from './cli/run.ts';\nrun();\n",
  'src/cli/run.ts': "import { start } from '../agent/agent.ts';\nexport const run = start;\n",
  'src/agent/agent.ts': "import { limit } from '../core/limits.ts';\nexport const start = () => limit;\n",
  'src/core/limits.ts': 'export const limit = 1;\n',
};

function violationsWith(files: Record<string, string>): string[] {
  return checkLayers(makeTree({ ...sound, ...files }));
}

test('layering of a sound tree has no violation', () => {
  expect(violationsWith({})).toEqual([]);
});

test.each([
  [
    'an import against the direction',
    { 'src/core/limits.ts': "import { start } from '../agent/agent.ts';\nexport const limit = start;\n" },
    'src/core/limits.ts:1: core imports agent',
  ],
  [
    'a type import against the direction',
    { 'src/core/limits.ts': "import type { A } from '../agent/agent.ts';\nexport const limit: A = 1;\n" },
    'core imports agent',
  ],
  [
    'a lazy import against the direction',
    { 'src/core/limits.ts': "export const limit = () => import('../agent/agent.ts');\n" },
    'core imports agent',
  ],
  [
    'a lazy import of a template',
    { 'src/core/limits.ts': 'export const limit = () => import(`../agent/agent.ts`);\n' },
    'core imports agent',
  ],
  [
    'an import over several lines',
    { 'src/core/limits.ts': "import {\n  a,\n  b,\n} from '../agent/agent.ts';\nexport const limit = a + b;\n" },
    'core imports agent',
  ],
  [
    'the service knowing the agent',
    { 'src/cli/run.ts': "import '../service/a.ts';\n", 'src/service/a.ts': "import '../agent/agent.ts';\n" },
    'service imports agent',
  ],
  [
    'a page that takes more than types of the program',
    {
      'src/pages/status/main.tsx': "import { a } from '../../telemetry/a.ts';\na();\n",
      'src/telemetry/a.ts': 'export const a = () => 1;\n',
    },
    'does not run in a browser',
  ],
  [
    'a page that takes the SQL of a function',
    {
      'src/pages/status/main.tsx': "import { A_SQL } from '../../language/functions/a/sql.ts';\nA_SQL();\n",
      'src/language/functions/a/sql.ts': 'export const A_SQL = () => 1;\n',
    },
    'pages imports service',
  ],
  [
    'the language taking a function of rows',
    {
      'src/cli/run.ts': "import '../language/a.ts';\n",
      'src/language/a.ts': "import './functions/a/rows.ts';\n",
      'src/language/functions/a/rows.ts': 'export {};\n',
    },
    'language imports shaping',
  ],
  [
    'a function of rows that knows the service',
    {
      'src/cli/run.ts': "import '../service/a.ts';\n",
      'src/agent/agent.ts': "import '../shaping/a.ts';\nexport const start = 1;\n",
      'src/service/a.ts': 'export {};\n',
      'src/shaping/a.ts': "import '../language/functions/a/rows.ts';\n",
      'src/language/functions/a/rows.ts': "import '../../../service/a.ts';\n",
    },
    'shaping imports service',
  ],
  [
    'a package of the service in what a function says of itself',
    {
      'src/cli/run.ts': "import '../language/functions/a/spec.ts';\n",
      'src/language/functions/a/spec.ts': "import 'chdb';\n",
    },
    "'chdb' enters only through",
  ],
  [
    'a class with more than 15 fields that change',
    {
      'src/core/limits.ts': `export class A {\n  readonly a = 1;\n${Array.from({ length: 16 }, (_, n) => `  #b${n}${n % 2 ? ': number | undefined' : ' = 0'};\n`).join('')}  run(): void {}\n}\nexport const limit = new A();\n`,
    },
    'src/core/limits.ts:1: A has 16 fields that change',
  ],
  [
    'a page file that no page imports',
    { 'src/pages/status/a.tsx': 'export const a = 1;\n' },
    'src/pages/status/a.tsx: nothing imports it',
  ],
  [
    'a room without rules',
    {
      'src/main.ts': "import './cli/run.ts';\nimport '../src/attic/a.ts';\n",
      'src/attic/a.ts': "import '../core/limits.ts';\n",
    },
    "'attic' is no known room",
  ],
  [
    'a package outside its door',
    { 'src/core/limits.ts': "import { Pool } from 'undici';\nexport const limit = Pool;\n" },
    "'undici' enters only through",
  ],
  [
    'a package without a door',
    { 'src/core/limits.ts': "import pad from 'left-pad';\nexport const limit = pad;\n" },
    "'left-pad' has no door",
  ],
  [
    'a re-export',
    {
      'src/core/limits.ts': "export * from './more.ts';\nexport const limit = 1;\n",
      'src/core/more.ts': 'export const more = 1;\n',
    },
    "re-exports from './more.ts'",
  ],
  ['a missing file', { 'src/core/limits.ts': "import './gone.ts';\nexport const limit = 1;\n" }, 'which is not there'],
  [
    'the dear way to node:http',
    { 'src/core/limits.ts': "import { createServer } from 'node:http';\nexport const limit = createServer;\n" },
    'costs 14 MB',
  ],
  ['a dead file', { 'src/core/unused.ts': 'export const unused = 1;\n' }, 'src/core/unused.ts: nothing imports it'],
  [
    'two dead files that import each other',
    { 'src/core/a.ts': "import './b.ts';\n", 'src/core/b.ts': "import './a.ts';\n" },
    'src/core/a.ts: nothing imports it',
  ],
  [
    'two folders of a room that import each other',
    {
      'src/cli/one/a.ts': "import type { B } from '../two/b.ts';\nexport type A = B;\n",
      'src/cli/two/b.ts': "import type { A } from '../one/a.ts';\nexport type B = A;\n",
    },
    'src/cli/one and src/cli/two import each other',
  ],
  [
    'a folder and the folder in it that import each other',
    {
      'src/agent/agent.ts': "import './build/a.ts';\nexport const start = () => 1;\n",
      'src/agent/build/a.ts': "import type { start } from '../agent.ts';\nexport type A = typeof start;\n",
    },
    'src/agent and src/agent/build import each other',
  ],
  [
    'limits that import more than limits',
    {
      'src/core/limits.ts': "import { a } from './a.ts';\nexport const limit = a;\n",
      'src/core/a.ts': 'export const a = 1;\n',
    },
    'limits.ts imports nothing but limits',
  ],
  [
    'a wait outside of the clock',
    {
      'src/agent/agent.ts': 'export const start = () => setTimeout(() => {}, 10);\n',
      'test/a.test.ts': "import '../src/core/limits.ts';\n",
    },
    'src/agent/agent.ts:1: calls setTimeout()',
  ],
  [
    'a folder with sixteen files',
    Object.fromEntries(
      Array.from({ length: 16 }, (_, index) => [`src/agent/part/${index}.ts`, 'export const a = 1;\n']),
    ),
    'src/agent/part: more than 15 files',
  ],
  [
    'a file of 351 lines',
    { 'src/core/long.ts': `export const long = 1;\n${'\n'.repeat(350)}` },
    'src/core/long.ts: more than 350 lines',
  ],
  [
    'a kept line outside the tables of data',
    { 'test/long.test.ts': ['// prettier', 'ignore\nconst long = 1;\n'].join('-') },
    'test/long.test.ts:1: prettier-ignore',
  ],
])('layering names %s', (_name, files: Record<string, string>, wanted) => {
  expect(violationsWith(files).join('\n')).toContain(wanted);
});

test('layering lets a type import of node:http and a file that only a test reaches pass', () => {
  const files = {
    'src/core/limits.ts':
      "import type { Server } from 'node:http';\nexport const limit = (server: Server) => server;\n",
    'src/core/oracle.ts': 'export const oracle = 1;\n',
    'test/oracle.test.ts': "import { oracle } from '../src/core/oracle.ts';\noracle;\n",
  };
  expect(violationsWith(files)).toEqual([]);
});

const toyType = {
  'src/sinks/toy/toy-type.ts': 'export const toy = {};\n',
  'test/toy.ts': "import '../src/sinks/toy/toy-type.ts';\n",
};

test.each([
  "export const start = (sink) => (sink.type === 'toy' ? 1 : limit);",
  "export const start = ({ type }) => (type !== 'toy' ? 1 : limit);",
  "export const start = (sink) => ('toy' === sink.type ? 1 : limit);",
  "export const start = (sink) => (sink.kind === 'toy' ? 1 : limit);",
  "export const start = (sink) => {\n  switch (sink.type) {\n    case 'other':\n    case 'toy':\n      return limit;\n  }\n};",
  "export const start = (sink) => (sink['type'] === `toy` ? 1 : limit);",
  "export const start = ({ type: what }) => (what == 'toy' ? 1 : limit);",
  "export const start = (sink) => (['toy'].includes(sink.type) ? 1 : limit);",
  "const some = new Set(['toy', 'toy']);\nexport const start = (sink) => (some.has(sink.type) ? 1 : limit);",
  "export const start = (sink) => (sink.type.startsWith('to') ? 1 : limit);",
  'export const start = (sink) => (/^to/.test(sink.type) ? 1 : limit);',
  'export const start = (sink) => ({ toy: 1 })[sink.type] ?? limit;',
  'export const start = (sink) => SINK_TYPES.toy.fields ?? limit;',
  "export const start = (sink) => SINK_TYPES['toy'].fields ?? limit;",
  'export const start = () => `sinks: {out: {type: toy}} ${limit}`;',
])('layering finds a question for the type of a sink: %s', (line) => {
  const agent = `import { limit } from '../core/limits.ts';\n${line}\n`;
  expect(violationsWith({ ...toyType, 'src/agent/agent.ts': agent })).toEqual([
    expect.stringMatching(/^src\/agent\/agent\.ts:\d: asks for a type of source or sink/),
  ]);
});

test('layering finds an import of the type of a sink', () => {
  const agent = "import { toy } from '../sinks/toy/toy-type.ts';\nexport const start = (sink) => sink === toy;\n";
  expect(violationsWith({ ...toyType, 'src/agent/agent.ts': agent })).toContainEqual(
    expect.stringContaining('asks for a type of source or sink'),
  );
});

test('layering lets a type ask for itself, and files and secrets have kinds', () => {
  const own = "export const isToy = (sink) => sink.type === 'toy';\n";
  const stat =
    "import { limit } from '../core/limits.ts';\nexport const start = (stat) => (stat.kind === 'toy' ? 1 : limit);\n";
  expect(violationsWith({ ...toyType, 'src/sinks/toy/toy-type.ts': own, 'src/agent/agent.ts': stat })).toEqual([]);
});
