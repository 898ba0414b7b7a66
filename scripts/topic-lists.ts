/** The lists of the files of functions and operators that each room has: those of the topics that are there, in the order of the topics. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { TOPICS } from '../src/language/functions/topics.ts';
import { OPERATOR_TOPICS } from '../src/language/operators/topics.ts';

const FUNCTIONS = TOPICS.map(({ name }) => name as string);
const OPERATORS: readonly string[] = OPERATOR_TOPICS;

interface TopicList {
  readonly topics: readonly string[];
  /** Its file. */
  readonly path: string;
  readonly doc: string;
  readonly name: string;
  /** The file of a topic, with a star for the topic, and what its table is called behind the topic's name. */
  readonly files: string;
  readonly suffix: string;
  /** The tables under their topics, or all as one. */
  readonly as: 'topics' | 'object' | 'array';
}

const LISTS: readonly TopicList[] = [
  {
    topics: FUNCTIONS,
    path: 'src/language/functions/specs.ts',
    doc: 'What every function takes and gives.',
    name: 'SPECS',
    files: 'src/language/functions/*/spec.ts',
    suffix: '',
    as: 'topics',
  },
  {
    topics: FUNCTIONS,
    path: 'test/language/functions/all.ts',
    doc: 'What every function gives, by cases.',
    name: 'CASES',
    files: 'test/language/functions/*.ts',
    suffix: '_CASES',
    as: 'topics',
  },
  {
    topics: FUNCTIONS,
    path: 'src/service/query/sql/topics.ts',
    doc: 'The SQL of every function.',
    name: 'FUNCTIONS_SQL',
    files: 'src/language/functions/*/sql.ts',
    suffix: '_SQL',
    as: 'object',
  },
  {
    topics: FUNCTIONS,
    path: 'src/shaping/rows/topics.ts',
    doc: 'Every function of one row.',
    name: 'FUNCTIONS_ROWS',
    files: 'src/language/functions/*/rows.ts',
    suffix: '_ROWS',
    as: 'object',
  },
  {
    topics: OPERATORS,
    path: 'src/language/operators/specs.ts',
    doc: 'Every operator.',
    name: 'OPERATOR_SPECS',
    files: 'src/language/operators/*/spec.ts',
    suffix: '',
    as: 'array',
  },
];

function render(root: string, { topics, path, doc, name, files, suffix, as }: TopicList): string {
  const tables = topics
    .map((topic) => ({ topic, file: files.replace('*', topic) }))
    .filter(({ file }) => existsSync(join(root, file)))
    .map(({ topic, file }) => ({ topic, file, table: `${topic.toUpperCase().replaceAll('-', '_')}${suffix}` }));
  const imports = tables.map(({ file, table }) => {
    const from = relative(join(path, '..'), file);
    return `import { ${table} } from '${from.startsWith('.') ? from : `./${from}`}';`;
  });
  const key = (topic: string): string => (topic.includes('-') ? `'${topic}'` : topic);
  const entries = tables.map(({ topic, table }) => (as === 'topics' ? `${key(topic)}: ${table}` : `...${table}`));
  const [open, close] = as === 'array' ? ['[', ']'] : ['{', '}'];
  const list = [`export const ${name} = ${open}`, ...entries.map((entry) => `  ${entry},`), `${close};`].join('\n');
  return [`/** ${doc} Written by scripts/generate.ts. */`, ...imports, '', list, ''].join('\n');
}

/** Each file with its text. */
export const topicLists = (root: string): readonly (readonly [path: string, render: () => string])[] =>
  LISTS.map((list) => [list.path, () => render(root, list)] as const);
