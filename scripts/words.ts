/**
 * Counts turns of phrase that make a reader read twice, in comments and in the names of tests: "what is there" for "the file", "is told" for
 * "reports". Exits 1 above the limit, which only falls. `scripts/node scripts/words.ts [path]` lists each with its place.
 */
import { join } from 'node:path';
import { lineAt, listFiles, readText } from './files.ts';

const MOST = 90;

const PHRASES =
  /\b(?:what (?:is|was|are|were|has|had|cannot|may|can|will|must)|told|said|stands?|(?:is|are|was|were) none|in vain|under way)\b/gi;
/** A comment, or the name of a test or of its group. */
const TEXTS =
  /(?<=^|[\s({[,])\/\*\*?(?=[\s*])[^]*?\*\/|(?<=^|\s)\/\/ [^\n]*|\b(?:test|describe)(?:\.\w+)*(?:\([^)'"`]*\))?\(\s*(?:'[^'\n]*'|`[^`]*`)/gm;

export function findPhrases(root: string, under = ''): string[] {
  const files = listFiles(root, ['.ts', '.tsx']).filter(
    (file) => file.startsWith(under) && !/\/words(?:\.test)?\.ts$/.test(file),
  );
  return files.flatMap((file) => {
    const text = readText(root, file);
    return [...text.matchAll(TEXTS)].flatMap((found) =>
      [...found[0].matchAll(PHRASES)].map(
        ({ 0: phrase, index }) => `${file}:${lineAt(text, found.index + index)}: ${phrase}`,
      ),
    );
  });
}

if (import.meta.main) {
  const [under] = process.argv.slice(2);
  const found = findPhrases(join(import.meta.dirname, '..'), under);
  if (under !== undefined) console.log(found.join('\n'));
  console.log(
    `${found.length} phrases${under === undefined ? `, of ${MOST} at most: list them with \`scripts/node scripts/words.ts src/\`` : ''}`,
  );
  if (under === undefined && found.length > MOST) process.exitCode = 1;
}
