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
  /** The tables under their topics, not all as one. */
  readonly byTopic?: true;
}

const LISTS: readonly FunctionList[] = [
  { path: `${FOLDER}/specs.ts`, doc: 'What every function takes and gives.', name: 'SPECS', file: 'spec.ts', suffix: '', byTopic: true },
  { path: `${FOLDER}/cases.ts`, doc: 'What every function gives, by cases.', name: 'CASES', file: 'cases.ts', suffix: '_CASES', byTopic: true },
  { path: 'src/service/query/sql/topics.ts', doc: 'The SQL of every function.', name: 'FUNCTIONS_SQL', file: 'sql.ts', suffix: '_SQL' },
  { path: 'src/shaping/rows/topics.ts', doc: 'Every function of one row.', name: 'FUNCTIONS_ROWS', file: 'rows.ts', suffix: '_ROWS' },
]; // prettier-ignore

function render(root: string, { path, doc, name, file, suffix, byTopic }: FunctionList): string {
  const tables = TOPICS.filter((topic) => existsSync(join(root, FOLDER, topic.name, file))).map((topic) => ({
    topic: topic.name,
    table: `${topic.name.toUpperCase().replaceAll('-', '_')}${suffix}`,
  }));
  const from = relative(join(path, '..'), FOLDER) || '.';
  const imports = tables.map(({ topic, table }) => `import { ${table} } from '${from}/${topic}/${file}';`);
  const entries = tables.map(({ topic, table }) => {
    if (!byTopic) return `  ...${table},`;
    return `  ${topic.includes('-') ? `'${topic}'` : topic}: ${table},`;
  });
  return [`/** ${doc} Written by scripts/generate.ts. */`, ...imports, '', `export const ${name} = {`, ...entries, '};', ''].join('\n');
}

/** Each file with what is written into it. */
export const functionLists = (root: string): readonly (readonly [path: string, render: () => string])[] =>
  LISTS.map((list) => [list.path, () => render(root, list)] as const);
