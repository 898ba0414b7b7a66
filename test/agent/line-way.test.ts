/**
 * Which files a line passes on its way to the socket, and its acknowledgement on the way back: those that run, not those that are imported.
 * ARCHITECTURE.md lists them.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runNode } from '../support/run-node.ts';

/** As measured. The aim is 45 and 20. */
const MOST = { out: 65, back: 26 };

/** Files that ran in any of the rounds, and those that ran in every one. */
type Ways = Record<keyof typeof MOST, { readonly any: readonly string[]; readonly every: readonly string[] }>;

const root = join(import.meta.dirname, '../..');
const folderOf = (file: string): string => file.slice(0, file.lastIndexOf('/') + 1);

/** A line for each folder, as in ARCHITECTURE.md. */
function print(files: readonly string[]): string {
  const folders = Map.groupBy(files, folderOf);
  return [...folders]
    .map(([folder, all]) => `src/${folder} ${all.map((file) => file.slice(folder.length)).join(' ')}`)
    .join('\n');
}

/** The files in the block of ARCHITECTURE.md that begins with the line `WAY:`. */
function listed(way: string): string[] {
  const block = new RegExp(`^\`\`\`\\n${way}:\\n(.*?)\\n\`\`\``, 'ms').exec(
    readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'),
  )![1]!;
  return block.split('\n').flatMap((line) => {
    const [folder, ...names] = line.split(' ');
    return names.map((name) => `${folder!.slice('src/'.length)}${name}`);
  });
}

test('a line and its acknowledgement run only the files that ARCHITECTURE.md lists', async () => {
  // What was compiled before is not counted exactly.
  const ways = JSON.parse(
    await runNode([join(import.meta.dirname, 'line-way-child.ts')], { NODE_DISABLE_COMPILE_CACHE: '1' }),
  ) as Ways;
  for (const way of ['out', 'back'] as const) {
    const { every, any } = ways[way];
    const files = listed(way);
    expect(
      { unlisted: every.filter((file) => !files.includes(file)), idle: files.filter((file) => !any.includes(file)) },
      `list in ARCHITECTURE.md:\n${way}:\n${print(every)}`,
    ).toEqual({ unlisted: [], idle: [] });
    expect(files.length).toBeLessThanOrEqual(MOST[way]);
  }
});
