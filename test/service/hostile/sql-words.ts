/** The words that SQL may have: those of the compiler's own source, numbers, names of its columns and its placeholders. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCES = ['src/service/query/**/*.ts', 'src/language/functions/*/{sql,*-sql}.ts', 'src/service/engine/*.ts'];
const root = join(import.meta.dirname, '../../..');
const source = SOURCES.flatMap((pattern) => globSync(pattern, { cwd: root }))
  .map((path) => readFileSync(join(root, path), 'utf8'))
  .join('\n');
const known = new Set(source.match(/[A-Za-z_]\w*/g));

/** Words of a statement that the compiler did not write. */
export function foreignWords(sql: string): string[] {
  const words = sql.replaceAll(/\{p\d+:\w+\}/g, ' ').match(/[A-Za-z_]\w*/g) ?? [];
  return words.filter((word) => !known.has(word) && !/^(?:[a-z]{2}\d+|ds_\d+|[meui]\d+)$/.test(word));
}
