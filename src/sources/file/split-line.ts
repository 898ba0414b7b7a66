/**
 * Finds the way back into a line that is sent in parts (`on_oversize: split`): which part comes next at an offset is not
 * kept anywhere but found by cutting the line again from its beginning, so that a part has the same number whenever it is read.
 */
import type { WindowBlock } from '../byte-window.ts';
import type { LineWindow } from '../line-window.ts';
import type { FileSystem } from './file-system.ts';
import { findLineStart, readBefore } from './sample.ts';
import { TAIL_BYTES } from '../../core/limits.ts';

/** Takes the window to `offset`, as `reset` does, but as into the middle of a line's parts where it is one. Throws system errors. */
export async function resetInLine(window: LineWindow, fileSystem: FileSystem, fd: number, offset: number): Promise<void> {
  const before = Buffer.from(readBefore(fileSystem, fd, offset, TAIL_BYTES));
  const parts = offset > 0 && window.splitsLines && !window.endsLine(before) ? await countParts(window, fileSystem, fd, offset) : 0;
  if (parts > 0) window.resume(offset, { kind: 'split', parts, length: 0, recent: before });
  else window.reset(offset, before);
}

/** Parts of the line around `offset` that end there or before; 0 where none ends just there. */
async function countParts(window: LineWindow, fileSystem: FileSystem, fd: number, offset: number): Promise<number> {
  let position = findLineStart(fileSystem, fd, offset, offset);
  window.reset(position, Buffer.alloc(0));
  while (window.offset < offset) {
    const count = await fileSystem.read(fd, window.free(), position);
    if (count === 0) return 0;
    window.commit(count);
    position += count;
    while (window.offset < offset && window.next());
  }
  const line = window.offset === offset ? window.suspend() : undefined;
  return line?.kind === 'split' ? line.parts : 0;
}

/**
 * The bytes `[from, to)` as a part of a line that goes on behind them; undefined when they are none: whole lines, or an
 * unfinished one. The window must be reset after that.
 */
export async function readPart(
  window: LineWindow,
  fileSystem: FileSystem,
  fd: number,
  from: number,
  to: number,
): Promise<WindowBlock | undefined> {
  if (!window.splitsLines || window.endsLine(readBefore(fileSystem, fd, to, TAIL_BYTES))) return undefined;
  await resetInLine(window, fileSystem, fd, from);
  for (let position = from; ;) {
    const count = await fileSystem.read(fd, window.free(), position);
    if (count === 0) return undefined;
    window.commit(count);
    position += count;
    const block = window.next();
    if (block) return window.offset === to ? block : undefined;
  }
}
