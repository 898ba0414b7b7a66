/**
 * Every way a byte of a file can end, and what `tailrace audit` says of it: beside the process that ended it so, after that, and beside a
 * later process. The sums are what the test knows.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { type Audit, NO_TOTALS } from '../../src/cli/audit/report.ts';
import { tailraceFor } from '../cli/tailrace.ts';
import type { Program } from '../support/program.ts';
import {
  addressOf,
  command,
  QUICK,
  type ShippingOptions,
  type Site,
  spooledFiles,
  startShipping,
  outcomes,
  test,
} from '../support/shipping.ts';
import { until } from '../support/until.ts';

const run = tailraceFor({});

/** Bytes by their end, and the number of dead letters; omitted ones are 0. */
type Ends = Partial<Audit['totals']>;

/** The agent between its folder and the service, over several processes. */
class Stage {
  readonly site: Site;
  readonly options: ShippingOptions;
  agent!: Program;
  last!: Audit;

  constructor(site: Site, options: ShippingOptions) {
    this.site = site;
    // Each stop comes after its sums: with the service away, waiting for it proves nothing.
    this.options = {
      ...options,
      sink: `token: t, ${options.sink ?? QUICK}`,
      top: `shutdown_timeout: 1s\n${options.top ?? ''}`,
    };
  }

  get log(): string {
    return this.site.log;
  }

  async start(changes: ShippingOptions = {}): Promise<void> {
    this.agent = startShipping(this.site, { ...this.options, ...changes });
    await addressOf(this.agent);
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.agent.end(signal);
  }

  /** While it refuses, batches wait outside of memory. */
  service(state: 'up' | 'down' | 'refuses'): void {
    this.site.service.respond = () => (state === 'up' ? undefined : { status: state === 'down' ? 503 : 401 });
  }

  /** Waits: settled and lost bytes reach the disk a moment later. Losses alone end with exit code 1. */
  async audits(ends: Ends): Promise<void> {
    const wanted = { ...NO_TOTALS, ...ends };
    let code: number | null = null;
    await until('the audit has these sums', async () => {
      const ended = await run(['audit', '--json', '--config', join(this.site.folder, 'tailrace.yaml')]);
      code = ended.code;
      this.last = JSON.parse(ended.stdout) as Audit;
      return JSON.stringify(this.last.totals) === JSON.stringify({ ...this.last.totals, ...wanted });
    }).catch(() => expect(this.last).toMatchObject({ totals: wanted }));
    expect({ code, ok: this.last.ok }).toEqual(
      wanted.lost - wanted.acknowledged + wanted.gap + wanted.missing_letters > 0
        ? { code: 1, ok: false }
        : { code: 0, ok: true },
    );
  }

  get letters(): string {
    return join(this.site.folder, 'agent/dead-letters');
  }

  /** All lines of the log are refused. */
  async hasLetters(lines = LINES): Promise<void> {
    writeFileSync(this.log, lines);
    this.site.service.respond = ({ events }) => ({ failed: events.map((_, index) => index) });
    await this.start();
    await until('all are settled', async () => {
      const { dead_lettered: kept = 0, dropped = 0 } = await outcomes(this.agent);
      return kept + dropped === lines.split('\n').length - 1;
    });
  }

  async does(...args: string[]): Promise<void> {
    expect((await command(this.site, ...args)).code).toBe(0);
  }

  async spools(files: number): Promise<void> {
    await until('the disk buffer has them', () => spooledFiles(this.site).length === files);
  }
}

interface Way {
  readonly options?: ShippingOptions;
  /** Ends with a running agent, and with the sums where they are not known before. */
  readonly steps: (stage: Stage) => Promise<Ends | void>;
  readonly ends?: Ends;
  /** Why bytes are lost or dropped. */
  readonly reason?: string;
  /** Once a later process ran before a service that is up; the same by default. */
  readonly later?: Ends;
}

const LINES = 'one\ntwo\n';

/** Lines that take about 900 kB in the disk buffer, of 1 MiB. */
const MANY = Array.from({ length: 900 }, () => `${randomBytes(499).toString('hex').slice(0, 998)}\n`).join('');
const SMALL_BUFFER =
  'compression: none, batch: {max_bytes: 1000000}, buffer: {when_full: drop_oldest, disk: {max_bytes: 1MiB}}, ';

const ways: Readonly<Record<string, Way>> = {
  delivered: {
    steps: async (stage) => {
      writeFileSync(stage.log, LINES);
      await stage.start();
    },
    ends: { settled: 8 },
  },
  filtered: {
    options: { top: 'transform: "where message != \'two\'"' },
    steps: async (stage) => {
      writeFileSync(stage.log, LINES);
      await stage.start();
    },
    ends: { settled: 8 },
  },
  'dead letter': {
    steps: async (stage) => {
      writeFileSync(stage.log, LINES);
      stage.site.service.respond = () => ({ failed: [1] });
      await stage.start();
    },
    ends: { settled: 8, dead_letters: 1 },
  },
  'dead letter, replayed': {
    steps: async (stage) => {
      await stage.hasLetters();
      stage.service('up');
      await stage.does('dead-letters', 'replay');
    },
    ends: { settled: 8 },
  },
  'dead letter, dropped beside the agent': {
    steps: async (stage) => {
      await stage.hasLetters();
      await stage.does('dead-letters', 'drop', '--all');
    },
    ends: { settled: 8, dropped_letters: 2 },
  },
  'dead letter, dropped while no agent ran': {
    steps: async (stage) => {
      await stage.hasLetters();
      await stage.stop();
      await stage.does('dead-letters', 'drop', '--all');
      await stage.start();
    },
    ends: { settled: 8, dropped_letters: 2 },
  },
  'dead letter, dropped as there was no room': {
    options: { top: 'dead_letter: {max_bytes: 1KiB, when_full: drop_newest}' },
    steps: async (stage) => {
      await stage.hasLetters(MANY.slice(0, 3996));
    },
    ends: { settled: 3996, dropped_letters: 4 },
  },
  'dead letter, removed by hand': {
    steps: async (stage) => {
      await stage.hasLetters();
      for (const name of readdirSync(stage.letters)) rmSync(join(stage.letters, name));
    },
    ends: { settled: 8, missing_letters: 2 },
  },
  'dead letter, one of which was removed from its file by hand': {
    steps: async (stage) => {
      await stage.hasLetters();
      const [name] = readdirSync(stage.letters);
      const [line] = readFileSync(join(stage.letters, name!), 'utf8').split('\n');
      writeFileSync(join(stage.letters, name!), `${line}\n`);
    },
    ends: { settled: 8, dead_letters: 1, missing_letters: 1 },
  },
  'dead letter of a routed dataset, replayed': {
    options: { top: 'transform: "to_dataset(\'routed\')"' },
    steps: async (stage) => {
      await stage.hasLetters();
      stage.service('up');
      await stage.does('dead-letters', 'replay');
    },
    ends: { settled: 16 },
  },
  'dead letter of a routed dataset, removed by hand': {
    options: { top: 'transform: "to_dataset(\'routed\')"' },
    steps: async (stage) => {
      await stage.hasLetters();
      for (const name of readdirSync(stage.letters)) rmSync(join(stage.letters, name));
    },
    ends: { settled: 16, missing_letters: 2 },
  },
  'held in its file': {
    steps: async (stage) => {
      writeFileSync(stage.log, LINES);
      stage.service('down');
      await stage.start();
    },
    ends: { in_hand: 8 },
    later: { settled: 8 },
  },
  'held in the disk buffer': {
    steps: async (stage) => {
      writeFileSync(stage.log, LINES);
      stage.service('down');
      await stage.start();
      await stage.audits({ in_hand: 8 });
      rmSync(stage.log);
      await stage.spools(1);
    },
    ends: { in_hand: 8 },
    later: { settled: 8 },
  },
  'lost with a file that was deleted while no agent ran, before it was delivered': {
    steps: async (stage) => {
      writeFileSync(stage.log, LINES);
      stage.service('down');
      await stage.start();
      await stage.audits({ in_hand: 8 });
      await stage.stop();
      rmSync(stage.log);
      stage.service('up');
      await stage.start();
    },
    ends: { lost: 8 },
    reason: 'not_there_again',
  },
  'lost with a file that was deleted while no agent ran, before it was read': {
    steps: async (stage) => {
      writeFileSync(stage.log, `${LINES}unfinished`);
      await stage.start();
      await stage.audits({ settled: 8, unread: 10 });
      await stage.stop();
      rmSync(stage.log);
      await stage.start();
    },
    ends: { settled: 8, lost: 10 },
    reason: 'deleted',
  },
  'lost with the target of a link': {
    steps: async (stage) => {
      const target = join(stage.site.folder, 'target');
      writeFileSync(target, `${LINES}unfinished`);
      symlinkSync(target, stage.log);
      await stage.start();
      await stage.audits({ settled: 8, unread: 10 });
      await stage.stop();
      rmSync(target);
      await stage.start();
    },
    ends: { settled: 8, lost: 10 },
    reason: 'deleted',
  },
  'lost by truncation': {
    steps: async (stage) => {
      writeFileSync(stage.log, `${LINES}unfinished`);
      await stage.start();
      await stage.audits({ settled: 8, unread: 10 });
      writeFileSync(stage.log, 'new\n');
    },
    ends: { settled: 12, lost: 10 },
    reason: 'truncated',
  },
  'lost by truncation while no agent ran, before it was delivered': {
    steps: async (stage) => {
      writeFileSync(stage.log, LINES);
      stage.service('down');
      await stage.start();
      await stage.audits({ in_hand: 8 });
      await stage.stop();
      writeFileSync(stage.log, 'new\n');
      stage.service('up');
      await stage.start();
    },
    ends: { settled: 4, lost: 8 },
    reason: 'not_there_again',
  },
  'lost behind the damage of a compressed file': {
    options: { sources: {} },
    steps: async (stage) => {
      const compressed = gzipSync(Buffer.from(MANY));
      compressed.fill(255, 200_000, 201_000);
      writeFileSync(`${stage.log}.gz`, compressed);
      utimesSync(`${stage.log}.gz`, 0, 0);
      const sources = {
        app: `{type: file, include: ["${stage.site.folder}/logs/*.gz"], read_compressed: true, scan_interval: 100ms}`,
      };
      Object.assign(stage.options, { sources });
      await stage.start();
      const line = JSON.parse(await stage.agent.says('compressed file is damaged')) as {
        offset: number;
        lostBytes: number;
      };
      return { settled: line.offset, lost: line.lostBytes };
    },
    reason: 'damaged',
  },
  'lost with a file of the disk buffer that is damaged while no agent runs': {
    steps: async (stage) => {
      writeFileSync(stage.log, LINES);
      stage.service('down');
      await stage.start();
      await stage.audits({ in_hand: 8 });
      rmSync(stage.log);
      await stage.spools(1);
      await stage.stop();
      damageSpool(stage.site);
      stage.service('up');
      await stage.start();
    },
    ends: { lost: 8 },
    reason: 'not_there_again',
  },
  'lost with a file of the disk buffer that is damaged while an agent runs': {
    steps: async (stage) => {
      writeFileSync(stage.log, LINES);
      stage.service('refuses');
      await stage.start();
      await stage.audits({ in_hand: 8 });
      rmSync(stage.log);
      await stage.spools(1);
      await stage.stop();
      await stage.start();
      damageSpool(stage.site);
      await stage.agent.says('was set aside');
    },
    ends: { lost: 8 },
    reason: 'disk_buffer',
  },
  'lost with a file that was deleted while its routes changed': {
    options: { top: 'transform: "to_dataset(\'one\')"' },
    steps: async (stage) => {
      writeFileSync(stage.log, LINES);
      stage.service('down');
      await stage.start();
      await until('they are in hand', async () => (await outcomes(stage.agent)).held === 2);
      await stage.stop();
      rmSync(stage.log);
      stage.service('up');
      Object.assign(stage.options, { top: 'transform: "to_dataset(\'other\')"' });
      await stage.start();
    },
    ends: { lost: 8 },
    reason: 'deleted',
  },
  'dropped, as the disk buffer is full': {
    // A batch that is being sent is never dropped: a refused one is asked about ever more seldom.
    options: { sink: `${SMALL_BUFFER}retry: {max_backoff: 5m}` },
    steps: async (stage) => {
      const sources = {
        app: `{type: file, include: ["${stage.site.folder}/logs/*.log*"], scan_interval: 100ms}`,
        in: '{type: stdin}',
      };
      Object.assign(stage.options, { sources, stdin: 'pipe' });
      writeFileSync(stage.log, MANY);
      stage.service('refuses');
      await stage.start();
      await stage.audits({ in_hand: MANY.length });
      rmSync(stage.log);
      await stage.spools(1);
      stage.agent.process.stdin!.end(MANY);
      await stage.audits({ dropped: MANY.length });
      await stage.stop();
      stage.service('up');
      await stage.start();
    },
    ends: { dropped: MANY.length },
    reason: 'dropped',
  },
};

function damageSpool(site: Site): void {
  const folder = join(site.folder, 'agent/spool/store');
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.batch')))
    writeFileSync(join(folder, name), 'torn');
}

test.for(Object.entries(ways))('audit knows in that process and in later ones: %s', async ([, way], { site }) => {
  const stage = new Stage(site, way.options ?? {});
  const knows = async (ends: Ends): Promise<void> => {
    await stage.audits(ends);
    const sinks = stage.last.streams.flatMap((each) => each.sinks);
    const reasons = sinks.flatMap(({ ranges, unplaced }) =>
      [...ranges, ...unplaced].flatMap(({ reason }) => reason ?? []),
    );
    expect([...new Set(reasons)]).toEqual(way.reason === undefined ? [] : [way.reason]);
  };
  const ends = (await way.steps(stage)) ?? way.ends ?? {};
  await knows(ends);
  await stage.stop();
  await knows(ends);
  stage.service('up');
  await stage.start();
  await knows(way.later ?? ends);
  await stage.stop();
  await knows(way.later ?? ends);
});

test('audit --acknowledge takes losses for known: they stay lost, and only others end a later audit with 1', async ({
  site,
}) => {
  const stage = new Stage(site, {});
  const acknowledges = () => run(['audit', '--acknowledge', '--config', join(site.folder, 'tailrace.yaml')]);
  const lose = async (): Promise<void> => {
    writeFileSync(site.log, `${LINES}unfinished`);
    await stage.start();
    await stage.audits({ settled: 8, unread: 10 });
    await stage.stop();
    rmSync(site.log);
    await stage.start();
    await stage.audits({ settled: 8, lost: 10 });
  };
  await lose();
  expect(await acknowledges()).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('8–18  lost: its file was deleted before it was read'),
  });
  await stage.audits({ settled: 8, lost: 10, acknowledged: 10 });
  await stage.stop();
  rmSync(join(site.folder, 'agent/state.db'));
  await lose();
  await stage.stop();
  expect(await acknowledges()).toMatchObject({ code: 1 });
  await stage.audits({ settled: 8, lost: 10, acknowledged: 10 });
});

// Symptom: audit left out events of standard input once their damaged file was set aside.
test('audit names a damaged file of the disk buffer until somebody removes it', async ({ site }) => {
  const stage = new Stage(site, { sources: { in: '{type: stdin}' }, stdin: 'pipe' });
  stage.service('down');
  await stage.start();
  stage.agent.process.stdin!.write(LINES);
  await stage.spools(1);
  await stage.stop();
  damageSpool(site);
  stage.service('up');
  await stage.start();
  await stage.agent.says('was set aside');
  const broken = join(site.folder, 'agent/spool/store/broken');
  const audits = () => run(['audit', '--config', join(site.folder, 'tailrace.yaml')]);
  const named = { code: 1, stdout: expect.stringContaining(broken) };
  expect(await audits()).toMatchObject(named);
  await stage.stop();
  expect(await audits()).toMatchObject(named);
  rmSync(broken, { recursive: true });
  expect(await audits()).toMatchObject({ code: 0 });
});
