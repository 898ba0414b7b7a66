/** The lists of the files of functions and operators that each room has: those of the topics' folders that are there, in the order of the topics. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { TOPICS } from '../src/language/functions/topics.ts';
import { OPERATOR_TOPICS } from '../src/language/operators/topics.ts';

const FUNCTIONS = { folder: 'src/language/functions', topics: TOPICS.map(({ name }) => name as string) };
const OPERATORS = { folder: 'src/language/operators', topics: OPERATOR_TOPICS as readonly string[] };

interface TopicList {
  readonly of: typeof FUNCTIONS | typeof OPERATORS;
  /** Its file, under src. */
  readonly path: string;
  readonly doc: string;
  readonly name: string;
  /** The file of a topic, and what its table is called behind the topic's name. */
  readonly file: string;
  readonly suffix: string;
  /** The tables under their topics, or all as one. */
  readonly as: 'topics' | 'object' | 'array';
}

const LISTS: readonly TopicList[] = [
  {
    of: FUNCTIONS,
    path: `${FUNCTIONS.folder}/specs.ts`,
    doc: 'What every function takes and gives.',
    name: 'SPECS',
    file: 'spec.ts',
    suffix: '',
    as: 'topics',
  },
  {
    of: FUNCTIONS,
    path: `${FUNCTIONS.folder}/cases.ts`,
    doc: 'What every function gives, by cases.',
    name: 'CASES',
    file: 'cases.ts',
    suffix: '_CASES',
    as: 'topics',
  },
  {
    of: FUNCTIONS,
    path: 'src/service/query/sql/topics.ts',
    doc: 'The SQL of every function.',
    name: 'FUNCTIONS_SQL',
    file: 'sql.ts',
    suffix: '_SQL',
    as: 'object',
  },
  {
    of: FUNCTIONS,
    path: 'src/shaping/rows/topics.ts',
    doc: 'Every function of one row.',
    name: 'FUNCTIONS_ROWS',
    file: 'rows.ts',
    suffix: '_ROWS',
    as: 'object',
  },
  {
    of: OPERATORS,
    path: `${OPERATORS.folder}/specs.ts`,
    doc: 'Every operator.',
    name: 'OPERATOR_SPECS',
    file: 'spec.ts',
    suffix: '',
    as: 'array',
  },
];

function render(root: string, { of, path, doc, name, file, suffix, as }: TopicList): string {
  const tables = of.topics
    .filter((topic) => existsSync(join(root, of.folder, topic, file)))
    .map((topic) => ({ topic, table: `${topic.toUpperCase().replaceAll('-', '_')}${suffix}` }));
  const from = relative(join(path, '..'), of.folder) || '.';
  const imports = tables.map(({ topic, table }) => `import { ${table} } from '${from}/${topic}/${file}';`);
  const key = (topic: string): string => (topic.includes('-') ? `'${topic}'` : topic);
  const entries = tables.map(({ topic, table }) => (as === 'topics' ? `${key(topic)}: ${table}` : `...${table}`));
  const [open, close] = as === 'array' ? ['[', ']'] : ['{', '}'];
  const list = [`export const ${name} = ${open}`, ...entries.map((entry) => `  ${entry},`), `${close};`].join('\n');
  return [`/** ${doc} Written by scripts/generate.ts. */`, ...imports, '', list, ''].join('\n');
}

/** Each file with its text. */
export const topicLists = (root: string): readonly (readonly [path: string, render: () => string])[] =>
  LISTS.map((list) => [list.path, () => render(root, list)] as const);
