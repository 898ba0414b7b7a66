/** What the model test found, each as the smallest schedule that showed it; the name says what was wrong. */
import type { Event } from './events.ts';

interface Found {
  readonly name: string;
  readonly include?: string;
  readonly schedule: readonly Event[];
}

const [scan, wait, deliver, restart, kill] = [
  { kind: 'scan' },
  { kind: 'wait' },
  { kind: 'deliver' },
  { kind: 'restart' },
  { kind: 'kill', after: 0 },
] as const;
/** More than the sink takes while it hangs. */
const flood = [{ kind: 'hang' }, { kind: 'append', file: 0, lines: 150 }, { kind: 'append', file: 0, lines: 150 }, scan] as const;

export const found: readonly Found[] = [
  {
    name: 'deleted file was given up for a new one that began alike, because nothing of it had been read',
    schedule: [{ kind: 'partial', file: 1 }, scan, { kind: 'delete', file: 1 }, { kind: 'late append', file: 1 }, scan],
  },
  {
    name: 'copy under the inode of a file deleted since the last scan was read again',
    include: '*.log*',
    schedule: [
      { kind: 'append', file: 0, lines: 1 },
      { kind: 'partial', file: 1 },
      wait,
      { kind: 'delete', file: 0 },
      { kind: 'copytruncate', file: 1, lines: 0 },
      scan,
    ],
  },
  {
    name: 'copy of a file that was renamed in the same moment was read again',
    include: '*.log*',
    schedule: [{ kind: 'append', file: 0, lines: 1 }, wait, { kind: 'copytruncate', file: 0, lines: 0 }, { kind: 'rename', file: 0 }, scan],
  },
  {
    name: 'archive under the inode of a deleted file was read as that file',
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
    name: 'file that was truncated and rotated away while no agent ran was not read',
    schedule: [{ kind: 'append', file: 0, lines: 1 }, wait, kill, { kind: 'truncate', file: 0 }, { kind: 'late append', file: 0 }, scan],
  },
  {
    name: 'file deleted between the last scan and a stop was not read to its end',
    schedule: [...flood, { kind: 'delete', file: 0 }, restart],
  },
  {
    name: 'what was read of a deleted file waited for the age of its batch, and went with a kill',
    schedule: [...flood, { kind: 'delete', file: 0 }, scan, scan, kill],
  },
  {
    name: 'unfinished line of a deleted file waited for its time, and went with a kill',
    schedule: [{ kind: 'partial', file: 0 }, scan, { kind: 'delete', file: 0 }, scan, scan, kill],
  },
  {
    name: 'file that was closed when it was deleted took its open batch along',
    schedule: [{ kind: 'append', file: 0, lines: 1 }, wait, { kind: 'delete', file: 0 }, scan, scan, kill],
  },
  {
    name: 'batch that was delivered and not saved lost its key with one of its files',
    schedule: [
      { kind: 'append', file: 0, lines: 1 },
      { kind: 'append', file: 1, lines: 1 },
      scan,
      deliver,
      { kind: 'delete', file: 0 },
      scan,
      kill,
      scan,
    ],
  },
  {
    name: 'batch of a deleted file that was delivered before it was in the disk buffer lost its key in a kill',
    schedule: [{ kind: 'recreate', file: 1 }, { kind: 'recreate', file: 0 }, scan, { kind: 'delete', file: 1 }, scan, kill],
  },
  {
    name: 'copy under the inode of an older rotated file was compared with that one alone',
    schedule: [
      { kind: 'late append', file: 1 },
      { kind: 'append', file: 1, lines: 1 },
      restart,
      wait,
      { kind: 'compress', file: 1 },
      { kind: 'copytruncate', file: 1, lines: 0 },
      { kind: 'partial', file: 1 },
    ],
  },
  {
    name: 'copy under the inode of an empty file of the first scan was taken for as old as that one, and read again',
    include: '*.log*',
    schedule: [
      { kind: 'copytruncate', file: 1, lines: 0 },
      { kind: 'copytruncate', file: 1, lines: 0 },
      { kind: 'append', file: 0, lines: 1 },
      wait,
      { kind: 'compress', file: 1 },
      { kind: 'copytruncate', file: 0, lines: 0 },
      { kind: 'delete', file: 0 },
    ],
  },
  {
    name: 'copy with unread lines under the inode of a deleted file counted as that file',
    schedule: [
      { kind: 'append', file: 1, lines: 1 },
      { kind: 'append', file: 0, lines: 1 },
      wait,
      { kind: 'append', file: 0, lines: 1 },
      { kind: 'compress', file: 1 },
      { kind: 'copytruncate', file: 0, lines: 0 },
    ],
  },
  {
    name: 'generation of which nothing was read took the copy of another one that began alike',
    schedule: [
      { kind: 'copytruncate', file: 1, lines: 0 },
      { kind: 'rename', file: 1 },
      { kind: 'append', file: 1, lines: 1 },
      restart,
      { kind: 'copytruncate', file: 1, lines: 0 },
      kill,
      { kind: 'rename', file: 1 },
    ],
  },
  {
    name: 'part of a block was in a batch, and read again, when a stop read its deleted file to the end',
    schedule: [
      { kind: 'refuse' },
      { kind: 'append', file: 1, lines: 18 },
      { kind: 'append', file: 0, lines: 63 },
      scan,
      { kind: 'delete', file: 1 },
      restart,
    ],
  },
  {
    name: 'file whose first lines waited for the sinks was copied and truncated, and the copy was read again',
    schedule: [
      { kind: 'append', file: 0, lines: 59 },
      { kind: 'rename', file: 0 },
      { kind: 'append', file: 0, lines: 1 },
      scan,
      { kind: 'append', file: 1, lines: 22 },
      { kind: 'refuse half' },
      restart,
      { kind: 'copytruncate', file: 1, lines: 0 },
      { kind: 'append', file: 1, lines: 1 },
      { kind: 'rename', file: 1 },
    ],
  },
  {
    name: 'what was read of a truncated file was in the disk buffer alone, and read again once its copy was found',
    schedule: [
      { kind: 'recreate', file: 0 },
      { kind: 'hang' },
      scan,
      { kind: 'truncate', file: 0 },
      { kind: 'append', file: 1, lines: 81 },
      scan,
      { kind: 'copytruncate', file: 1, lines: 0 },
      scan,
      { kind: 'append', file: 0, lines: 1 },
      restart,
    ],
  },
  {
    name: 'file that was rotated away unseen, under the inode of an empty file that was gone for long, was not read',
    schedule: [
      { kind: 'copytruncate', file: 1, lines: 0 },
      wait,
      { kind: 'rename', file: 1 },
      { kind: 'compress', file: 1 },
      wait,
      { kind: 'rename', file: 1 },
      { kind: 'rename', file: 1 },
    ],
  },
  {
    name: 'empty file that was no copy got a stream, and after a restart the file that had its inode by then was taken for it',
    include: '*.log*',
    schedule: [
      { kind: 'copytruncate', file: 0, lines: 0 },
      { kind: 'copytruncate', file: 0, lines: 0 },
      { kind: 'append', file: 0, lines: 1 },
      { kind: 'save' },
      { kind: 'recreate', file: 0 },
      kill,
      kill,
      { kind: 'compress', file: 0 },
      { kind: 'append', file: 1, lines: 1 },
      { kind: 'save' },
      { kind: 'copytruncate', file: 1, lines: 0 },
      { kind: 'rename', file: 1 },
    ],
  },
  {
    name: 'unfinished line of a deleted file went with a kill, as the file was forgotten before its batch was closed',
    schedule: [
      { kind: 'append', file: 0, lines: 1 },
      { kind: 'refuse' },
      restart,
      { kind: 'partial', file: 0 },
      { kind: 'append', file: 1, lines: 1 },
      scan,
      deliver,
      wait,
      { kind: 'delete', file: 0 },
      scan,
      scan,
      kill,
    ],
  },
  {
    name: 'unfinished line of a deleted file went with a kill, as what came while the lane took the lines before it was read a scan late',
    schedule: [
      { kind: 'refuse' },
      { kind: 'append', file: 0, lines: 81 },
      restart,
      { kind: 'partial', file: 0 },
      scan,
      { kind: 'delete', file: 0 },
      scan,
      scan,
      kill,
    ],
  },
  {
    name: 'unread file that was truncated, and began as before, counted as cut off though its copy was read',
    include: '*.log*',
    schedule: [
      { kind: 'hang' },
      { kind: 'append', file: 0, lines: 16 },
      { kind: 'append', file: 0, lines: 65 },
      deliver,
      { kind: 'late append', file: 0 },
      { kind: 'append', file: 1, lines: 1 },
      scan,
      { kind: 'copytruncate', file: 1, lines: 0 },
      { kind: 'partial', file: 1 },
    ],
  },
  {
    name: 'unread file lived on in the copy of what followed it, and what that has less counted as lost',
    include: '*.log*',
    schedule: [
      { kind: 'hang' },
      { kind: 'append', file: 0, lines: 16 },
      { kind: 'append', file: 0, lines: 65 },
      deliver,
      { kind: 'late append', file: 0 },
      { kind: 'append', file: 1, lines: 1 },
      scan,
      { kind: 'copytruncate', file: 1, lines: 0 },
      { kind: 'partial', file: 1 },
      { kind: 'copytruncate', file: 1, lines: 0 },
    ],
  },
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
    name: 'copy was compared with one truncated file, and read, before it was seen that its original was truncated, too',
    include: '*.log*',
    schedule: [
      { kind: 'append', file: 0, lines: 1 },
      kill,
      { kind: 'late append', file: 0 },
      { kind: 'append', file: 0, lines: 1 },
      wait,
      { kind: 'copytruncate', file: 0, lines: 0 },
      { kind: 'rename', file: 0 },
      { kind: 'copytruncate', file: 0, lines: 0 },
    ],
  },
  {
    name: 'file under the inode of one that was gone for long was taken up where a copy was looked for, and once more',
    schedule: [{ kind: 'append', file: 1, lines: 1 }, wait, deliver, { kind: 'compress', file: 1 }, wait, { kind: 'rename', file: 1 }],
  },
  {
    name: 'block of which a batch has a part was read again when a stop read its deleted file to the end',
    schedule: [
      { kind: 'partial', file: 1 },
      { kind: 'lose replies' },
      wait,
      { kind: 'append', file: 0, lines: 1 },
      { kind: 'append', file: 1, lines: 39 },
      restart,
      { kind: 'delete', file: 1 },
      restart,
    ],
  },
  {
    name: 'unfinished line of a file whose name was gone as soon as it was seen counted on being read again',
    schedule: [
      { kind: 'append', file: 0, lines: 1 },
      scan,
      { kind: 'rename', file: 0 },
      { kind: 'partial', file: 0 },
      wait,
      { kind: 'copytruncate', file: 0, lines: 0 },
      { kind: 'rename', file: 0 },
      { kind: 'copytruncate', file: 0, lines: 0 },
    ],
  },
];
