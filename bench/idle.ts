/** What the agent costs while nothing happens: 100 files delivered, watched, and not written to. */
import { writeFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepareAgent } from './agent.ts';
import { lineMaker } from './inputs.ts';
import { readCpuSeconds, readStatusBytes, startMeasured } from './measure.ts';
import { startSink } from './sink.ts';

export interface IdleFigures {
  readonly files: number;
  readonly seconds: number;
  readonly rssBytes: number;
  readonly privateBytes: number;
  readonly cpuSecondsPerMinute: number;
}

const FILES = 100;
const LINES_PER_FILE = 100;
const DELIVERY_DEADLINE_MS = 60_000;
/** After the delivery: the last marks are saved, connections go quiet. */
const SETTLE_MS = 5000;

/** Delivers the files, then watches the agent for `seconds`. Throws when the files do not arrive. */
export async function measureIdle(program: string, folder: string, seconds: number): Promise<IdleFigures> {
  const logs = join(folder, 'logs');
  mkdirSync(logs, { recursive: true });
  for (let i = 0; i < FILES; i++) {
    const next = lineMaker('text', i + 1);
    writeFileSync(join(logs, `app-${i}.log`), Array.from({ length: LINES_PER_FILE }, () => `${next()}\n`).join(''));
  }
  const sink = await startSink();
  const include = join(logs, '*.log');
  const setup = { program, folder, include, kind: 'text', compression: 'auto', port: sink.port, once: false } as const;
  const agent = await startMeasured(prepareAgent(setup));
  try {
    const deadline = Date.now() + DELIVERY_DEADLINE_MS;
    while ((await sink.counts()).events < FILES * LINES_PER_FILE) {
      if (!agent.isRunning()) throw new Error(`idle: the agent ended: ${(await agent.done).output}`);
      if (Date.now() > deadline) throw new Error(`idle: only ${(await sink.counts()).events} events arrived`);
      await sleep(100);
    }
    await sleep(SETTLE_MS);
    const before = readCpuSeconds(agent.pid);
    await sleep(seconds * 1000);
    return {
      files: FILES,
      seconds,
      rssBytes: readStatusBytes(agent.pid, 'VmRSS'),
      privateBytes: readStatusBytes(agent.pid, 'RssAnon'),
      cpuSecondsPerMinute: ((readCpuSeconds(agent.pid) - before) / seconds) * 60,
    };
  } finally {
    agent.terminate();
    await agent.done;
    await sink.stop();
  }
}
