/** Something would wait for good: two streams for each other, or a batch for a file. */
import { COMPRESSED } from '../events.ts';
import { type Found, kill, restart, scan, wait } from './steps.ts';

export const settled: readonly Found[] = [
  {
    name: "two streams waited for each other's copies, which were made before the last of them was read, for ever",
    schedule: [
      { kind: 'append', file: 0, lines: 2 },
      scan,
      { kind: 'copytruncate', file: 0, lines: 3, seen: 'more' },
      { kind: 'append', file: 0, lines: 4 },
      { kind: 'copytruncate', file: 0, lines: 3, seen: 'more' },
      scan,
      { kind: 'append', file: 0, lines: 2 },
    ],
  },
  {
    name: 'batch was held up at every start by a compressed file that was gone',
    include: 'compressed',
    schedule: [
      { kind: 'compress', file: 0 },
      wait,
      { kind: 'copytruncate', file: 0, lines: 0 },
      { kind: 'hang' },
      { kind: 'compress', file: 0 },
      { kind: 'partial', file: 0 },
      wait,
      { kind: 'partial', file: 0 },
      restart,
    ],
  },
  {
    name: 'compressed file that begins with a NUL gap waited for a followed file that is nothing but NULs',
    include: COMPRESSED,
    schedule: [
      { kind: 'regrow', file: 0 },
      { kind: 'copytruncate', file: 0, lines: 0, seen: 'no' },
      { kind: 'copytruncate', file: 1, lines: 0, seen: 'no' },
      { kind: 'reserve', file: 1 },
      kill,
      { kind: 'compress', file: 0 },
      { kind: 'partial', file: 0 },
    ],
  },
];
