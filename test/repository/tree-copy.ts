/** A copy of the tree for tests that follow a recipe in it, and the programs that they run there. */
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTree } from '../support/temp-tree.ts';

const root = join(import.meta.dirname, '../..');
const COPIED = [
  'src',
  'scripts',
  'test/language',
  'test/service/hostile',
  'test/support',
  'docs',
  'presets',
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

/** With these files beside its own. */
export function copyTree(files: Readonly<Record<string, string>>): string {
  const copy = makeTree({ ...files, 'tsconfig.parts.json': TSCONFIG });
  for (const path of COPIED)
    cpSync(join(root, path), join(copy, path), { recursive: true, filter: (from) => !/node_modules|dist/.test(from) });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Also with a line at the end of a list. */
export function copyWith(
  files: Readonly<Record<string, string>>,
  [path, added]: readonly [path: string, added: string],
): string {
  const copy = copyTree(files);
  write(copy, path, read(copy, path).replace('] as const;', `  ${added},\n] as const;`));
  return copy;
}

export function run(copy: string, ...args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' });
  return `${stdout}${stderr}`.trim();
}

export const types = (copy: string, project = 'tsconfig.parts.json'): string =>
  run(copy, join(root, 'node_modules/typescript/bin/tsc'), '--project', project);
export const read = (copy: string, path: string): string => readFileSync(join(copy, path), 'utf8');
export const write = (copy: string, path: string, text: string): void => writeFileSync(join(copy, path), text);
