/**
 * The promise itself: a million lines from twenty files, through renames and two kill -9 of the agent, into the local
 * service over its real engine. None is missing, none is stored twice: batches in flight at a kill are sent again under
 * the keys that they had.
 */
import { appendFileSync, closeSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { API_TOKEN, type LocalService, startLocalService } from '../support/local-service.ts';
import type { Program } from '../support/program.ts';
import { startShipping } from '../support/shipping.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';

const FILES = 20;
const LINES_PER_FILE = 50_000;
const LINES = FILES * LINES_PER_FILE;
/** The last files hold plain text; the others JSON with the sequence number as a field. */
const TEXT_FILES = 4;
const DATASET = 'million';

function linesOf(file: number, from: number, to: number): string {
  const isText = file >= FILES - TEXT_FILES;
  const lines: string[] = [];
  for (let i = from; i < to; i++) {
    const seq = file * LINES_PER_FILE + i;
    lines.push(
      isText
        ? `2026-11-21 12:00:00 INFO "worker ${file}" finished step ${seq} of the nightly import\n`
        : `{"seq":${seq},"level":"info","msg":"request ${seq} done","file_no":${file}}\n`,
    );
  }
  return lines.join('');
}

function startAgent(folder: string, service: LocalService): Program {
  const app = `{type: file, include: ["${folder}/logs/*.log"], scan_interval: 200ms, fields: {service: import}}`;
  const sink = `token: ${API_TOKEN}, batch: {max_age: 300ms}`;
  return startShipping({ folder, url: service.url }, { sources: { app }, dataset: DATASET, sink });
}

/** Waits for that many stored events; on failure reports their count and the agent's log. */
async function untilStored(service: LocalService, agent: Program, events: number): Promise<void> {
  let stored = 0;
  await until(`${events} stored`, async () => (stored = await countStored(service)) >= events, {
    withinMs: 240_000,
    everyMs: 250,
  }).catch((error: unknown) => {
    throw new Error(
      `${stored} of ${events} events are stored; the agent said:\n${agent.stderr()}\nthe service said:\n${service.program.stderr()}`,
      { cause: error },
    );
  });
}

async function countStored(service: LocalService): Promise<number> {
  return Number((await service.aggregate(DATASET, [{ op: 'count' }]))[0] ?? 0);
}

test(
  'a million lines arrive once each through rotation and two kill -9 of the agent',
  { timeout: 600_000 },
  async () => {
    const folder = makeTree({ 'logs/.keep': '' });
    const path = (file: number) => join(folder, 'logs', `app-${file}.log`);
    const half = LINES_PER_FILE / 2;
    for (let file = 0; file < FILES; file++) writeFileSync(path(file), linesOf(file, 0, half));
    const service = await startLocalService(folder, DATASET);

    let agent = startAgent(folder, service);
    await untilStored(service, agent, 50_000);
    expect(await agent.end('SIGKILL')).toBe('SIGKILL');

    // While no agent runs: files grow, one of them in the middle of a line, and two are rotated by renaming.
    for (let file = 4; file < FILES; file++) appendFileSync(path(file), linesOf(file, half, LINES_PER_FILE));
    for (const file of [0, 1]) {
      renameSync(path(file), `${path(file)}.1`);
      writeFileSync(path(file), linesOf(file, half, LINES_PER_FILE));
    }
    const last = linesOf(2, half, LINES_PER_FILE);
    appendFileSync(path(2), last.slice(0, -20));

    agent = startAgent(folder, service);
    await untilStored(service, agent, 400_000);
    // Rotated under the running agent: the application goes on writing into the renamed file for a while.
    const writer = openSync(path(3), 'a');
    renameSync(path(3), `${path(3)}.1`);
    writeSync(writer, linesOf(3, half, half + 10_000));
    writeFileSync(path(3), linesOf(3, half + 10_000, LINES_PER_FILE));
    closeSync(writer);
    expect(await agent.end('SIGKILL')).toBe('SIGKILL');

    agent = startAgent(folder, service);
    appendFileSync(path(2), last.slice(-20));
    await untilStored(service, agent, LINES);
    expect(await agent.end('SIGTERM')).toBe(0);

    const jsonLines = LINES - TEXT_FILES * LINES_PER_FILE;
    const [count, sum, least, greatest, distinct] = await service.aggregate(DATASET, [
      { op: 'count' },
      { op: 'sum', field: 'seq' },
      { op: 'min', field: 'seq' },
      { op: 'max', field: 'seq' },
      { op: 'distinct', field: 'seq' },
    ]);
    expect(count).toBe(LINES);
    expect({ sum, least, greatest, distinct }).toEqual({
      sum: (jsonLines * (jsonLines - 1)) / 2,
      least: 0,
      greatest: jsonLines - 1,
      distinct: jsonLines,
    });
    expect(await service.aggregate(DATASET, [{ op: 'distinct', field: 'message' }])).toEqual([
      TEXT_FILES * LINES_PER_FILE,
    ]);
    expect(await service.program.end('SIGTERM')).toBe(0);
  },
);
