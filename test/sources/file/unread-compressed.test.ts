import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { newStats } from '../../../src/core/source.ts';
import type { StreamRecord } from '../../../src/core/stream.ts';
import { fingerprintOf } from '../../../src/sources/file/known/content.ts';
import { newTrackedFile } from '../../../src/sources/file/known/tracked-file.ts';
import { NO_FILE, nodeFileSystem } from '../../../src/sources/file/scan/file-system.ts';
import type { KnownContent } from '../../../src/sources/file/compressed/known-content.ts';
import { UnreadCompressed } from '../../../src/sources/file/compressed/unread-compressed.ts';
import type { Notices } from '../../../src/sources/file/scan/notices.ts';
import { MemoryStreamStore } from '../../support/stream-store.ts';
import { makeTree } from '../../support/temp-tree.ts';

test('a stop ends the look at a compressed file that is left out, and waits until it is closed', async () => {
  const folder = makeTree({});
  const path = join(folder, 'app.log');
  writeFileSync(`${path}.1.gz`, gzipSync(Buffer.alloc(50_000_000, 'line\n')));
  const open = new Set<number>();
  const fileSystem = {
    ...nodeFileSystem,
    open: (name: string) => {
      const fd = nodeFileSystem.open(name);
      open.add(fd);
      return fd;
    },
    close: (fd: number) => {
      open.delete(fd);
      nodeFileSystem.close(fd);
    },
  };
  const said: string[] = [];
  let bytes = 0;
  const begun = Promise.withResolvers<void>();
  const find: KnownContent['find'] = async (pieces) => {
    for await (const { length } of pieces) {
      bytes += length;
      begun.resolve();
    }
    return { at: 5, file: { firstPath: path } as never };
  };
  const left = new UnreadCompressed({
    fileSystem,
    notices: { event: (_level: string, _fields: object, text: string) => void said.push(text) } as unknown as Notices,
    known: { find, isFollowed: () => false } as unknown as KnownContent,
    source: 'app',
    stats: newStats(),
    streams: new MemoryStreamStore(),
    isRead: () => false,
  });
  left.expect([{ path } as StreamRecord]);
  void left.name();
  await begun.promise;
  expect(open.size).toBe(1);
  await left.stop();
  expect(open.size).toBe(0);
  expect(bytes).toBeLessThan(50_000_000);
  expect(said).toEqual([]);
});

test.each([
  { made: 'after its stream', agoMs: 60_000, lost: 0 },
  { made: 'before its stream', agoMs: -60_000, lost: 2000 },
])(
  'compressed file that begins as an unread file did, made $made, leaves $lost bytes lost',
  async ({ agoMs, lost }) => {
    // Not in the table: on a busy machine its rows are made long before.
    const createdMs = Date.now() - agoMs;
    const path = join(makeTree({}), 'app.log');
    const content = Buffer.alloc(2000, 'line\n');
    writeFileSync(`${path}.1.gz`, gzipSync(content));
    utimesSync(`${path}.1.gz`, 1, 1);
    const [streams, stats] = [new MemoryStreamStore(), newStats()];
    const file = newTrackedFile(path, { ...NO_FILE, size: content.length }, {} as never, 0, -1);
    file.stream.identity = { device: '1', inode: '1', ...fingerprintOf(content.subarray(0, 1024)) };
    Object.assign(file.stream, { id: streams.mint('app', path, file.stream.identity, 0).id, createdMs });
    const notices = { event: () => {} } as unknown as Notices;
    const left = new UnreadCompressed({
      source: 'app',
      fileSystem: nodeFileSystem,
      notices,
      known: {} as KnownContent,
      stats,
      streams,
      isRead: () => true,
    });
    left.giveUp(file);
    await left.name();
    expect(stats.lostBytes).toBe(lost);
  },
);
