/**
 * Tailrace's own file source as a follower: the real source, with a lane that takes a block's lines one by one and a store
 * of streams in a small file. A position is a stream's id, the offset after the line, and the checksum of the bytes
 * before it, which is what the agent's database holds for each stream.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { crc32 } from 'node:zlib';
import type { Block, Tail } from '../../src/core/block.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { TAIL_BYTES } from '../../src/core/limits.ts';
import { silentLog } from '../../src/core/log.ts';
import type { FileIdentity, StreamRecord, StreamStore } from '../../src/core/stream.ts';
import { createFileSource } from '../../src/sources/file/source.ts';
import { type Deliver, type Follow, replaceFile } from './follower.ts';

const SOURCE = 'compared';

/** `include` is the glob for a file, as a user would configure it. */
export function followWithTailrace(include: (file: string) => string): Follow {
  return async (file, saved, deliver) => {
    const source = createFileSource(
      {
        id: SOURCE,
        type: 'file',
        include: [include(file)],
        exclude: ['*.streams', '*.next'],
        followLinks: 'safe',
        startAt: 'beginning',
        format: 'text',
        scanIntervalMs: 100,
        maxScanIntervalMs: 100,
        ignoreOlderMs: Infinity,
        order: 'fair',
        partialTimeoutMs: Infinity,
        maxDeletedBytes: Infinity,
        stableInodes: true,
        readCompressed: false,
        fields: {},
        onOversize: 'truncate',
        multiline: undefined,
        group: undefined,
        charset: 'utf-8',
        csv: { delimiter: ',', columns: undefined },
        regex: undefined,
        time: { kind: 'read' },
        formats: [],
        isShaped: false,
        types: {},
        parseJson: false,
        pathFields: [],
        maxEventBytes: 1024 * 1024,
        dataset: undefined,
        hostName: 'bench',
      },
      {
        lane: { accept: (block) => handOver(block, deliver) },
        streams: openStore(`${file}.streams`, saved),
        clock: systemClock,
        log: silentLog,
        hostname: hostname(),
        reserve: (bytes) => ({ at: 0, bytes: Buffer.alloc(bytes) }),
        once: false,
      },
    );
    await source.open();
    await source.run();
  };
}

async function handOver(block: Block, deliver: Deliver): Promise<void> {
  const { bytes } = block.window;
  for (let start = block.start; start < block.end;) {
    const end = bytes.indexOf(10, start) + 1;
    const before = bytes.subarray(Math.max(block.start, end - TAIL_BYTES), end);
    const offset = block.single ? block.offset + block.single.length : block.offset + end - block.start;
    const tail = block.single?.tail ?? { length: before.length, crc: crc32(before) };
    const wait = deliver(
      bytes.toString('utf8', start, end - 1),
      [block.stream, offset, tail.length, tail.crc].join(' '),
    );
    if (wait) await wait;
    start = end;
  }
}

/** Streams with their identities in a file, their positions from the records. */
function openStore(file: string, saved: readonly string[]): StreamStore {
  const streams = new Map<string, StreamRecord>();
  const save = () => replaceFile(file, JSON.stringify([...streams.values()]));
  if (existsSync(file)) {
    for (const stream of JSON.parse(readFileSync(file, 'utf8')) as StreamRecord[]) streams.set(stream.id, stream);
  }
  for (const position of saved) {
    const [id = '', offset, length, crc] = position.split(' ');
    const stream = streams.get(id);
    const tail: Tail = { length: Number(length), crc: Number(crc) };
    if (stream) streams.set(id, { ...stream, resumeAt: Number(offset), tail });
  }
  return {
    mint(source, path, identity, startAt = 0) {
      const at = {
        startAt,
        resumeAt: startAt,
        tail: { length: 0, crc: 0 },
        contentSum: undefined,
        createdMs: Date.now(),
      };
      const stream = { id: randomBytes(16).toString('hex'), source, path, identity, ...at };
      streams.set(stream.id, stream);
      save();
      return stream;
    },
    list: () => [...streams.values()],
    begin(id: string, startAt: number) {
      const stream = streams.get(id);
      if (stream) streams.set(id, { ...stream, startAt, resumeAt: startAt });
      save();
    },
    identify(id: string, identity: FileIdentity) {
      const stream = streams.get(id);
      if (stream) streams.set(id, { ...stream, identity });
      save();
    },
    see() {},
    noteCompressedEnd() {},
    forget(id: string) {
      streams.delete(id);
      save();
    },
    lose: () => {},
    isSettled: () => true,
  };
}
