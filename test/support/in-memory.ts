/**
 * Before each file of tests: rooms that a disk only slows have their temporary folders in memory. What depends on how a file system numbers files,
 * gives numbers again and keeps times runs on both (on-other-file-system.ts); the real agent's tests stay on the disk.
 */
import { relative } from 'node:path';
import { expect, inject } from 'vitest';
import { words } from './words.ts';

const ROOMS = words`batcher/ service/ sources/ state/`;
/** What the model found is played where a new file gets the inode of a deleted one. */
const ON_DISK = 'sources/file/model/';

const file = relative(`${import.meta.dirname}/..`, expect.getState().testPath!);
if (inject('memoryFolder') !== '' && ROOMS.some((room) => file.startsWith(room)) && !file.startsWith(ON_DISK))
  process.env['TMPDIR'] = inject('memoryFolder');
