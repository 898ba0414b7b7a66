/** The lists of the functions' files that each room has: those of the topics' folders that are there, in the order of the topics. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { TOPICS } from '../src/language/functions/topics.ts';

const FOLDER = 'src/language/functions';

interface FunctionList {
  /** Its file, under src. */
  readonly path: string;
  readonly doc: string;
  readonly name: string;
  /** The file of a topic, and what its table is called behind the topic's name. */
  readonly file: string;
  readonly suffix: string;
  /** How a topic's table stands in the list. */
  readonly entry: (topic: string, table: string) => string;
}

const spread = (_: string, table: string): string => `...${table}`;

const LISTS: readonly FunctionList[] = [
  {
    path: `${FOLDER}/specs.ts`,
    doc: 'What every function takes and gives, by topics.',
    name: 'SPECS',
    file: 'spec.ts',
    suffix: '',
    entry: (topic, table) => `${topic.includes('-') ? `'${topic}'` : topic}: ${table}`,
  },
  { path: 'src/service/query/sql/topics.ts', doc: 'The SQL of every function.', name: 'FUNCTIONS_SQL', file: 'sql.ts', suffix: '_SQL', entry: spread },
  { path: 'src/shaping/rows/topics.ts', doc: 'Every function of one row.', name: 'FUNCTIONS_ROWS', file: 'rows.ts', suffix: '_ROWS', entry: spread },
]; // prettier-ignore

function render(root: string, { path, doc, name, file, suffix, entry }: FunctionList): string {
  const topics = TOPICS.filter((topic) => existsSync(join(root, FOLDER, topic.name, file)));
  const tableOf = (topic: string): string => `${topic.toUpperCase().replaceAll('-', '_')}${suffix}`;
  const from = relative(join(path, '..'), FOLDER);
  const imports = topics.map((topic) => {
    const at = `${from === '' ? '.' : from}/${topic.name}/${file}`;
    return `import { ${tableOf(topic.name)} } from '${at}';`;
  });
  const entries = topics.map((topic) => `  ${entry(topic.name, tableOf(topic.name))},`);
  return [`/** ${doc} Written by scripts/generate.ts. */`, ...imports, '', `export const ${name} = {`, ...entries, '};', ''].join('\n');
}

/** Each file with what is written into it. */
export const functionLists = (root: string): readonly (readonly [path: string, render: () => string])[] =>
  LISTS.map((list) => [list.path, () => render(root, list)] as const);
