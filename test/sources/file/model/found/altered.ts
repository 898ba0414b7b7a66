/** Something would be stored that nobody wrote: NULs, a cut line, or compressed bytes. */
import { type Found, wait } from './steps.ts';

export const altered: readonly Found[] = [
  {
    name: 'NULs that a file ends in were sent as its unfinished line, and what was written in their place was not read',
    schedule: [
      { kind: 'append', file: 0, lines: 2 },
      { kind: 'reserve', file: 0 },
      wait,
      { kind: 'append', file: 0, lines: 2 },
      wait,
      { kind: 'late append', file: 0 },
      wait,
    ],
  },
  {
    name: 'compressed file under the inode of a deleted file was read as that file',
    include: '*.log*',
    schedule: [
      { kind: 'copytruncate', file: 1, lines: 0 },
      { kind: 'append', file: 0, lines: 1 },
      wait,
      { kind: 'compress', file: 1 },
      { kind: 'compress', file: 0 },
    ],
  },
  {
    name: 'generation behind a hole of another length than the one before is another one',
    schedule: [{ kind: 'regrow', file: 0 }, { kind: 'scan' }, { kind: 'regrow', file: 0 }, { kind: 'answer' }],
  },
];
