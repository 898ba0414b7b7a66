/** The reader of a pipe, who does not read while they are away. */
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { codeOf } from '../../../src/core/errors.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { createConsoleSink } from '../../../src/sinks/console/sink.ts';
import { BINARY, startCommand } from '../../support/program.ts';
import { makeTree } from '../../support/temp-tree.ts';
import type { Alone, Destination, Subject } from './subject.ts';

/** A pipe with its reading end open, which does not wait. */
function makePipe(folder: string): { readonly pipe: string; readonly reader: number } {
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  return { pipe, reader: openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK) };
}

async function alone(): Promise<Alone> {
  const folder = makeTree({ taken: '' });
  const file = join(folder, 'taken');
  const { pipe, reader } = makePipe(folder);
  const fd = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
  let isThere = true;
  const leave = (): void => {
    if (isThere) closeSync(reader);
    isThere = false;
  };
  onTestFinished(() => {
    leave();
    closeSync(fd);
  });
  return {
    sink: createConsoleSink({ id: 'screen', style: 'json' }, systemClock, fd),
    take() {
      const cat = spawn('sh', ['-c', 'exec cat "$0" > "$1"', pipe, file], { stdio: 'ignore' });
      onTestFinished(() => void cat.kill('SIGKILL'));
    },
    taken: () => readFileSync(file, 'utf8'),
    leave: () => Promise.resolve(leave()),
  };
}

async function destination(folder: string): Promise<Destination> {
  const { pipe, reader } = makePipe(folder);
  onTestFinished(() => closeSync(reader));
  const chunk = Buffer.alloc(64 * 1024);
  const events: string[] = [];
  let isAway = false;
  /** A line whose end has not come yet. */
  let rest = Buffer.alloc(0);
  const read = (): void => {
    for (;;) {
      let length = 0;
      try {
        length = readSync(reader, chunk);
      } catch (error) {
        if (codeOf(error) !== 'EAGAIN') throw error;
      }
      if (length === 0) return;
      const lines = Buffer.concat([rest, chunk.subarray(0, length)]);
      const end = lines.lastIndexOf('\n') + 1;
      events.push(...lines.toString('utf8', 0, end).split('\n').slice(0, -1));
      rest = lines.subarray(end);
    }
  };
  return {
    keys: '',
    start(...args) {
      // A process that was killed may have left the beginning of a line.
      read();
      rest = Buffer.alloc(0);
      return startCommand('sh', ['-c', 'exec "$0" "$@" > "$PIPE"', BINARY, ...args], { PIPE: pipe });
    },
    stored() {
      if (!isAway) read();
      return events;
    },
    away: () => void (isAway = true),
    back: () => void (isAway = false),
    isOnce: false,
  };
}

export const subject: Subject = { alone, destination };
