/** What the model test found, each by the promise that it would break, on a file system that gives a deleted file's inode to the next one. */
import { tmpdir } from 'node:os';
import { test, vi } from 'vitest';
import { found } from './found/found.ts';
import { play } from './play.ts';

vi.mock('node:fs', async (load) => (await import('./at-once.ts')).withCallbacks(await load()));
vi.mock('node:fs/promises', async (load) => (await import('./at-once.ts')).withPromises(await load()));
vi.mock('node:zlib', async (load) => (await import('./at-once.ts')).withGunzip(await load()));

test.for(found)('$promise: $name', ({ include = '*.log', schedule }) => play(schedule, include, tmpdir()));
