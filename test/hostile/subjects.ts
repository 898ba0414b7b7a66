/** All that meets bytes from outside, by rooms. */
import { lineSubjects } from './line-subjects.ts';
import { otherSubjects } from './other-subjects.ts';
import { shapingSubjects } from './shaping-subjects.ts';
import type { Subject } from './subject.ts';

export const ROOMS: Readonly<Record<string, () => readonly Subject[] | Promise<readonly Subject[]>>> = {
  lines: lineSubjects,
  shaping: shapingSubjects,
  'messages, bodies, answers and queries': otherSubjects,
};
