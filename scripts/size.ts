/**
 * Holds each room of src, test and bench to its row of `scripts/size.txt`: the most lines of TypeScript and CSS that it may have. Exits 1 where a
 * room grew past its row. `--write` makes the rows anew, each the room's lines rounded up to the next 50; the commit that raises one says why.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listFiles, readText } from './files.ts';

const STEP = 50;

/** Lines by room: the folder below `src`, `test` or `bench`; `src/sources` and `src/service` are large, so each of their folders is a room. */
export function countLines(root: string): Map<string, number> {
  const rooms = new Map<string, number>();
  for (const file of listFiles(root, ['.ts', '.tsx', '.css'])) {
    const room = /^(?:src\/(?:(?:sources|service)\/)?|test\/|bench\/)(?:[^/]+(?=\/))?/
      .exec(file)?.[0]
      .replace(/\/$/, '');
    if (room !== undefined) rooms.set(room, (rooms.get(room) ?? 0) + readText(root, file).split('\n').length - 1);
  }
  return rooms;
}

/** Every room that is over its row, has none, or is gone, with what to do. */
export function findOversized(rooms: ReadonlyMap<string, number>, table: string): string[] {
  const rows = new Map(
    table.split('\n').flatMap((line) => (line === '' ? [] : [[line.split(' ')[0]!, Number(line.split(' ')[1])]])),
  );
  const change =
    'make it smaller, or change the row in scripts/size.txt (`scripts/node scripts/size.ts --write`) and say why in the commit';
  return [
    ...[...rooms].flatMap(([room, lines]) => {
      const most = rows.get(room);
      if (most === undefined)
        return [`${room} has ${lines} lines and no row: add one with \`scripts/node scripts/size.ts --write\``];
      return lines <= most ? [] : [`${room} has ${lines} lines, over its ${most}: ${change}`];
    }),
    ...[...rows.keys()]
      .filter((room) => !rooms.has(room))
      .map((room) => `${room} has a row and no files: delete the row`),
  ];
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const path = join(import.meta.dirname, 'size.txt');
  const rooms = countLines(root);
  if (process.argv.includes('--write')) {
    const rows = [...rooms].map(([room, lines]) => `${room} ${Math.ceil(lines / STEP) * STEP}\n`);
    writeFileSync(path, rows.toSorted().join(''));
  }
  const oversized = findOversized(rooms, readFileSync(path, 'utf8'));
  for (const each of oversized) console.error(each);
  if (oversized.length > 0) process.exit(1);
  for (const [room, lines] of [...rooms].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`${String(lines).padStart(7)} ${room}`);
  for (const folder of ['src', 'test', 'bench']) {
    const lines = [...rooms].filter(([room]) => room.split('/')[0] === folder).reduce((sum, [, each]) => sum + each, 0);
    console.log(`${String(lines).padStart(7)} ${folder} in all`);
  }
}
