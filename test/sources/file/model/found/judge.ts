/** The model itself was at fault: it asked for lines that no agent can find. */
import { type Found, deliver, scan } from './steps.ts';

export const judge: readonly Found[] = [
  {
    name: 'copy outside of the globs of an unread file that was truncated unnoticed was to be found',
    schedule: [
      { kind: 'partial', file: 1 },
      deliver,
      { kind: 'copytruncate', file: 1, lines: 0 },
      { kind: 'partial', file: 1 },
      { kind: 'late append', file: 1 },
    ],
  },
  {
    name: 'copy outside of the globs of a file that was refilled behind a NUL gap of the same length, all unread, was to be found',
    schedule: [
      { kind: 'regrow', file: 0 },
      { kind: 'refuse half' },
      { kind: 'wake', told: 'all' },
      { kind: 'recreate', file: 0 },
      { kind: 'append', file: 1, lines: 40 },
      scan,
      { kind: 'regrow', file: 0 },
      { kind: 'recreate', file: 1 },
      { kind: 'wake', told: 'all' },
      { kind: 'truncate', file: 0 },
      { kind: 'regrow', file: 0 },
      scan,
    ],
  },
];
