import { expect, test } from 'vitest';
import { countLines, findOversized } from '../../scripts/size.ts';
import { makeTree } from '../support/temp-tree.ts';

test('size check counts lines of code and styles by room, and names a room that outgrew its row, one without a row, and a row without files', () => {
  const rooms = countLines(
    makeTree({
      'src/a/b/c.ts': '1\n2\n',
      'src/a/d.tsx': '3\n',
      'src/a/page.css': '4\n',
      'src/a/notes.md': '5\n',
      'src/service/query/e.ts': '6\n',
      'src/main.ts': '7\n',
      'test/a/e.test.ts': '8\n',
      'scripts/f.ts': '9\n',
    }),
  );
  expect(Object.fromEntries(rooms)).toEqual({ src: 1, 'src/a': 4, 'src/service/query': 1, 'test/a': 1 });
  expect(findOversized(rooms, 'src 1\nsrc/a 4\nsrc/service/query 1\ntest/a 1\n')).toEqual([]);
  expect(
    findOversized(rooms, 'src 1\nsrc/a 3\nsrc/gone 50\nsrc/service/query 1\n').map((each) => each.split(':')[0]),
  ).toEqual(['src/a has 4 lines, over its 3', 'test/a has 1 lines and no row', 'src/gone has a row and no files']);
});
