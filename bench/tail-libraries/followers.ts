/**
 * The followers that are compared. Each library is used as its documentation says; where it has more than one way to
 * know a position, each way is a follower of its own.
 */
import { createRequire } from 'node:module';
import LogdnaTailFile from '@logdna/tail-file';
import { type Deliver, type Follow, numberOf } from './follower.ts';
import { followWithTailrace } from './own.ts';

/** The part of tail-file that is used here; it ships no types. */
interface TailFile {
  pos: number | 'init';
  posNext: number;
  on(event: 'line', listener: (line: string) => void): void;
  on(event: 'error', listener: (error: Error) => void): void;
  startP(): Promise<boolean>;
  findStart(match: RegExp, compare: (found: string) => number): Promise<void>;
}

const TailFile = createRequire(import.meta.url)('tail-file') as new (file: string, options: object) => TailFile;

export const followers: Readonly<Record<string, Follow>> = {
  'tail-file, pos': (file, saved, deliver) => withTailFile(file, saved.at(-1), deliver, (tail) => String(tail.pos)),
  'tail-file, posNext': (file, saved, deliver) =>
    withTailFile(file, saved.at(-1), deliver, (tail) => String(tail.posNext)),
  'tail-file, findStart': (file, saved, deliver) =>
    withTailFile(file, saved.at(-1), deliver, (_, line) => String(numberOf(line)), true),
  '@logdna/tail-file, flush': (file, saved, deliver) => withLogdna(file, saved.at(-1), deliver, 'flush'),
  '@logdna/tail-file, counted': (file, saved, deliver) => withLogdna(file, saved.at(-1), deliver, 'counted'),
  'tailrace, app.log': followWithTailrace((file) => file),
  'tailrace, app.log*': followWithTailrace((file) => `${file}*`),
};

/**
 * tail-file emits lines as it finds them and cannot be asked to wait, so what its user is not ready for waits in a list.
 * `pos` (bytes) is what its `eof` event reports; `posNext` (characters) is an internal property; `findStart` looks for a
 * line by a sorted value in it, also in rotated files.
 */
async function withTailFile(
  file: string,
  from: string | undefined,
  deliver: Deliver,
  positionAfter: (tail: TailFile, line: string) => string,
  search = false,
): Promise<void> {
  const tail = new TailFile(file, { startPos: from === undefined || search ? 'start' : Number(from) });
  let waiting: (readonly [line: string, position: string])[] = [];
  let handingOver = false;
  const handOver = async () => {
    if (handingOver) return;
    handingOver = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      for (const [line, position] of batch) {
        const wait = deliver(line, position);
        if (wait) await wait;
      }
    }
    handingOver = false;
  };
  tail.on('line', (line) => {
    waiting.push([line, positionAfter(tail, line)]);
    void handOver();
  });
  tail.on('error', (error) => process.stderr.write(`${String(error)}\n`));
  if (search && from !== undefined) await tail.findStart(/^(\d+)/, (found) => Number(from) - Number(found));
  else await tail.startP();
}

/**
 * `@logdna/tail-file` is a stream of bytes. It reports a position with its `flush` events; or its user counts the bytes
 * of the lines taken, and begins again at 0 when it says that the file was renamed.
 */
async function withLogdna(
  file: string,
  from: string | undefined,
  deliver: Deliver,
  kind: 'flush' | 'counted',
): Promise<void> {
  const start = Number(from ?? 0);
  const tail = new LogdnaTailFile(file, { startPos: start, pollFileIntervalMs: 100 });
  let flushed = start;
  let counted = start;
  tail.on('flush', ({ lastReadPosition }: { lastReadPosition: number }) => (flushed = lastReadPosition));
  tail.on('renamed', () => (counted = 0));
  tail.on('tail_error', (error: Error) => process.stderr.write(`${String(error)}\n`));
  await tail.start();
  let rest = Buffer.alloc(0);
  for await (const chunk of tail as AsyncIterable<Buffer>) {
    let bytes = Buffer.concat([rest, chunk]);
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10)) {
      counted += end + 1;
      const wait = deliver(bytes.toString('utf8', 0, end), String(kind === 'flush' ? flushed : counted));
      if (wait) await wait;
      bytes = bytes.subarray(end + 1);
    }
    rest = bytes;
  }
}
