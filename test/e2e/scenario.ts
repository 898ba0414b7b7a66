/**
 * Scenarios of the real agent, in the words of those of the file source (`test/sources/file/steps.ts`): steps on the files of its folder,
 * on the agent and on the service, and the lines that must arrive.
 */
import { readdirSync, readlinkSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { FaultAnswer } from '../support/fault-service.ts';
import type { Program } from '../support/program.ts';
import {
  makeSite,
  messagesOf,
  metricsOf,
  QUICK,
  type Site,
  spooledEvents,
  startShipping,
  sumOf,
} from '../support/shipping.ts';
import { until } from '../support/until.ts';
import { findImbalances } from '../support/watch-accounting.ts';
import { type Acts, fileActs, type Folder, linesOf, playWith, type Script, type Word } from '../sources/file/steps.ts';

export interface AgentOptions {
  readonly glob?: string;
  /** More keys of the source, and of the sink. */
  readonly source?: string;
  readonly sink?: string;
}

export class AgentRig implements Folder {
  readonly site: Site;
  readonly options: AgentOptions;
  agent!: Program;
  /** Requests before the service last got new answers, and before the last start. */
  asked = 0;
  started = 0;

  constructor(site: Site, options: AgentOptions = {}) {
    this.site = site;
    this.options = options;
  }

  path(name: string): string {
    return join(this.site.folder, 'logs', name);
  }

  /** `more`: keys of the source, over those of the options. */
  start(more = this.options.source ?? '', args: readonly string[] = []): void {
    const { glob = '*.log', sink = '' } = this.options;
    this.started = this.site.service.requests.length;
    const app = `{type: file, include: ["${this.path(glob)}"], scan_interval: 100ms${more && `, ${more}`}}`;
    this.agent = startShipping(this.site, {
      sources: { app },
      sink: `${QUICK}${sink && `, ${sink}`}`,
      args,
      logLevel: 'debug',
    });
  }

  answer(answer: FaultAnswer | undefined): void {
    this.asked = this.site.service.requests.length;
    this.site.service.respond = () => answer;
  }

  /** What the agent has open of its folder. */
  get open(): string[] {
    const { pid } = this.agent.process;
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        const path = readlinkSync(`/proc/${pid}/fd/${fd}`);
        return path.startsWith(this.path('')) ? [path] : [];
      } catch {
        return [];
      }
    });
  }

  /** Lines by their `file`. */
  get byFile(): Record<string, string[]> {
    const files: Record<string, string[]> = {};
    for (const event of this.site.service.stored) {
      const { file, message } = JSON.parse(event) as { file: string; message: string };
      (files[file.slice(this.path('').length + 1)] ??= []).push(message);
    }
    return files;
  }

  play(script: Script): Promise<void> {
    return playWith(acts, this, script);
  }
}

/**
 * Deletes the file and makes it anew, under the same inode where that is given away again soon. The tries have names that nobody
 * watches (a file that is seen, deleted and written again is rightly read twice), and stay until the end, so that each gets another inode.
 */
function recreate(path: string, content: string): void {
  const { ino } = statSync(path);
  unlinkSync(path);
  const tries: string[] = [];
  do {
    tries.push(join(dirname(path), `try-${tries.length}`));
    writeFileSync(tries.at(-1)!, content);
  } while (statSync(tries.at(-1)!).ino !== ino && tries.length < 500);
  renameSync(tries.pop()!, path);
  for (const other of tries) unlinkSync(other);
}

const textOf = (words: readonly Word[]): string => words.map(({ text }) => text).join(' ');
/** `a+b`: the sum of two metrics. */
const metric = (rig: AgentRig, names: string): Promise<number> =>
  sumOf(rig.agent, ...names.split('+').map((name) => `tailrace_${name}`));
const holds = (value: number, relation: string, other: string): boolean =>
  relation === '>' ? value > Number(other) : value === Number(other);

const acts: Acts<AgentRig> = {
  ...fileActs,
  recreate: (rig, _, words, name) => recreate(rig.path(name), linesOf(words.slice(1)).join('\n') + '\n'),
  // The agent. `once`: to the end of the files.
  start: (rig, _, words) => rig.start(words[0]?.text),
  once: async (rig, step, words) => {
    rig.start(words[0]?.text, ['--once']);
    expect(await rig.agent.exited, step).toBe(0);
  },
  stop: async (rig, step) => expect(await rig.agent.end(), step).toBe(0),
  kill: async (rig, step) => expect(await rig.agent.end('SIGKILL'), step).toBe('SIGKILL'),
  // The service: takes nothing, never answers, never answers and has it, takes everything.
  away: (rig) => rig.answer({ status: 503 }),
  lost: (rig) => rig.answer({ never: 'lost' }),
  unheard: (rig) => rig.answer({ never: 'stored' }),
  back: (rig) => rig.answer(undefined),
  // Waits.
  asked: (rig, step) => until(step, () => rig.site.service.requests.length > rig.asked),
  sends: (rig, step, words) =>
    until(step, () =>
      rig.site.service.requests.some(({ events }) => events.some((event) => event.includes(textOf(words)))),
    ),
  says: (rig, _, words) => rig.agent.says(textOf(words)),
  until: (rig, step, _, names, relation, value) =>
    until(step, async () => {
      const seen = await metric(rig, names);
      return holds(seen, relation, value) || `${names} = ${seen}`;
    }),
  spooled: (rig, step, _, relation, count) =>
    until(step, () => holds(spooledEvents(rig.site), relation, count) || `${spooledEvents(rig.site)} spooled`),
  closed: (rig, step) => until(step, () => rig.open.length === 0 || `open: ${rig.open.join(' ')}`, { everyMs: 50 }),
  'let-go': (rig, step) => until(step, () => rig.open.every((path) => !path.endsWith(' (deleted)'))),
  // All that was delivered is noted.
  saved: async (rig, step, _, name) => {
    const before = await metric(rig, 'checkpoint_saves_total');
    writeFileSync(rig.path(name), 'mark\n');
    await until(step, async () => (await metric(rig, 'checkpoint_saves_total')) > before + 1, { everyMs: 50 });
  },
  has: (rig, step, words) =>
    until(step, () => messagesOf(rig.site).includes(textOf(words)) || messagesOf(rig.site).slice(-5).join('\n')),
  // Assertions: all lines stored since the beginning, in any order or in this one; a metric.
  stores: async (rig, step, words) => {
    const lines = linesOf(words);
    await until(
      step,
      () => rig.site.service.stored.length >= lines.length || `${rig.site.service.stored.length} stored`,
    );
    expect(messagesOf(rig.site).toSorted(), step).toEqual(lines.toSorted());
  },
  'in-order': (rig, step, words) => expect(messagesOf(rig.site), step).toEqual(linesOf(words)),
  of: (rig, step, words, name) =>
    expect(rig.byFile[name]?.toSorted(), step).toEqual(linesOf(words.slice(1)).toSorted()),
  count: (rig, step, _, count) =>
    until(step, () => rig.site.service.stored.length === Number(count) || `${rig.site.service.stored.length} stored`),
  is: async (rig, step, _, names, relation, value) =>
    expect(holds(await metric(rig, names), relation, value), step).toBe(true),
  balanced: async (rig, step) => expect(findImbalances(await metricsOf(rig.agent)), step).toEqual([]),
  said: (rig, step, _, count, ...pattern) =>
    expect(rig.agent.stderr().match(new RegExp(pattern.join(' '), 'g')) ?? [], step).toHaveLength(Number(count)),
  // Sent more than once, each time under its key.
  resent: ({ site }, step, words) => {
    const keys = site.service.requests
      .filter(({ events }) => events.some((event) => event.includes(textOf(words))))
      .map(({ key }) => key);
    expect(keys.length, step).toBeGreaterThan(1);
    expect(new Set(keys).size, step).toBe(1);
  },
  // Since the last start only earlier requests were sent.
  'old-keys': ({ site, started }, step) => {
    const known = site.service.requests.slice(0, started).map(({ key }) => key);
    for (const { key, events } of site.service.requests.slice(started))
      if (events.length > 0) expect(known, step).toContain(key);
  },
};

/** Texts of scenarios: lines by number, the bytes that lines take, and their words in a step. */
export const lines = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, n) => `line seq=${from + n}`);
export const bytesOf = (text: readonly string[]): number => text.join('\n').length + 1;
export const words = (texts: readonly string[]): string => texts.map((text) => `"${text}"`).join(' ');

/** A table of such tests. Each ends with a stop, and no key ever stood for two lists of events. */
export function agentScenarios(table: Readonly<Record<string, Script>>, options: AgentOptions = {}): void {
  for (const [name, script] of Object.entries(table))
    test(name, async () => {
      const rig = new AgentRig(await makeSite(), options);
      await rig.play(script);
      if (rig.agent.process.exitCode === null && rig.agent.process.signalCode === null)
        expect(await rig.agent.end()).toBe(0);
      expect(rig.site.service.misusedKeys).toEqual([]);
    });
}
