/** The real agent with `to_dataset` between its files and the service: every event comes to one dataset, and through kills once. */
import { appendFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Program } from '../support/program.ts';
import type { FaultRequest } from '../support/fault-service.ts';
import { API_TOKEN, startLocalService } from '../support/local-service.ts';
import {
  command,
  configure,
  outcomes,
  QUICK,
  range,
  type Site,
  startShipping,
  sumOf,
  test,
} from '../support/shipping.ts';
import { until } from '../support/until.ts';

const SINK = `${QUICK}, batch: {max_age: 20ms, max_events: 50}`;

const sourceOf = ({ folder }: Site, transform: string): string =>
  `{type: file, include: ["${folder}/logs/*.log*"], scan_interval: 100ms, transform: '${transform}'}`;

/** Numbered lines, each with the team that it is of. */
function write(
  site: Site,
  from: number,
  count: number,
  teamOf = (seq: number): string => ['red', 'green', 'blue'][seq % 3]!,
): void {
  appendFileSync(
    site.log,
    range(count)
      .map((n) => `{"_time":"2026-11-22T10:00:00Z","seq":${from + n},"team":"${teamOf(from + n)}"}\n`)
      .join(''),
  );
}

const isSettled = async (agent: Program): Promise<boolean> => (await outcomes(agent))['held'] === 0;

const datasetOf = ({ path }: FaultRequest): string => path.split('/').at(-1)!;

/** Numbers of the events that the service stored, by dataset. */
function storedIn({ service }: Site): Record<string, number[]> {
  const stored: Record<string, number[]> = {};
  const keys = new Set<string>();
  for (const request of service.requests) {
    const { key, events } = request;
    if (keys.has(key) || !service.hasStored(key)) continue;
    keys.add(key);
    for (const event of events) (stored[datasetOf(request)] ??= []).push((JSON.parse(event) as { seq: number }).seq);
  }
  for (const seqs of Object.values(stored)) seqs.sort((a, b) => a - b);
  return stored;
}

test('to_dataset sends each event to one dataset, and the accounting balances', async ({ site }) => {
  write(site, 0, 90);
  write(site, 90, 10, () => '');
  write(site, 100, 5, () => 'no such name');
  const transform = 'where seq != 0 | extend seen = true | to_dataset(team)';
  const agent = startShipping(site, { sources: { app: sourceOf(site, transform) }, sink: SINK });
  await until('all is stored', () => site.service.stored.length === 104);
  await until('it is settled', () => isSettled(agent));
  const third = (rest: number) => range(90).filter((seq) => seq !== 0 && seq % 3 === rest);
  expect(storedIn(site)).toEqual({
    red: third(0),
    green: third(1),
    blue: third(2),
    logs: range(15).map((n) => 90 + n),
  });
  expect(await outcomes(agent)).toEqual({
    accepted: 105,
    delivered: 104,
    dead_lettered: 0,
    dropped: 0,
    filtered: 1,
    held: 0,
    errors: 0,
  });
  expect(await sumOf(agent, 'tailrace_source_misrouted_events_total')).toBe(5);
  expect(await agent.end()).toBe(0);
  expect(agent.stderr()).not.toContain('no such name');
});

test('to_dataset names at most 16 datasets of a sink, also after a restart; others go to the sink’s own', async ({
  site,
}) => {
  const options = { sources: { app: sourceOf(site, 'to_dataset(team)') }, sink: SINK };
  write(site, 0, 40, (seq) => `t${seq % 20}`);
  let agent = startShipping(site, options);
  await until('all is stored', () => site.service.stored.length === 40);
  await until('it is settled', () => isSettled(agent));
  expect(await agent.end()).toBe(0);
  write(site, 40, 40, (seq) => `t${seq % 20}`);
  agent = startShipping(site, options);
  await until('all is stored', () => site.service.stored.length === 80);
  await until('it is settled', () => isSettled(agent));
  expect(await sumOf(agent, 'tailrace_source_misrouted_events_total')).toBe(8);
  expect(await agent.end()).toBe(0);
  const { logs, ...others } = storedIn(site);
  expect(Object.keys(others)).toHaveLength(16);
  expect(logs).toEqual(range(80).filter((seq) => seq % 20 >= 16));
  for (const [name, seqs] of Object.entries(others))
    expect(seqs).toEqual(range(80).filter((seq) => `t${seq % 20}` === name));
});

test('siblings of one event may go to several datasets, and count once', async ({ site }) => {
  appendFileSync(site.log, '{"_time":"2026-11-22T10:00:00Z","seq":1,"team":["red","green"]}\n');
  const agent = startShipping(site, {
    sources: { app: sourceOf(site, 'mv-expand team | to_dataset(tostring(team))') },
    sink: SINK,
  });
  await until('both are stored', () => site.service.stored.length === 2);
  await until('it is settled', () => isSettled(agent));
  expect(storedIn(site)).toEqual({ red: [1], green: [1] });
  expect(await outcomes(agent)).toMatchObject({ accepted: 1, delivered: 1, filtered: 0 });
  expect(await agent.end()).toBe(0);
});

test('to_dataset in the transform of a sink is an error at its place', async ({ site }) => {
  configure(site, { sink: "transform: 'where true | to_dataset(team)'" });
  const check = await command(site, 'check');
  expect([check.code, check.stderr()]).toEqual([
    2,
    expect.stringMatching(/tailrace\.yaml:\d+:\d+: to_dataset cannot stand in the transform of a sink/),
  ]);
});

test('a dataset that the service refuses is paused by itself', async ({ site }) => {
  site.service.respond = (request) => (datasetOf(request) === 'red' ? { status: 403 } : undefined);
  write(site, 0, 30);
  const options = { sources: { app: sourceOf(site, 'to_dataset(team)') }, sink: SINK };
  const agent = startShipping(site, options);
  await until('the others are stored', () => site.service.stored.length === 20);
  write(site, 30, 30);
  await until('what comes later, too', () => site.service.stored.length === 40);
  expect(await agent.end('SIGKILL')).toBe('SIGKILL');
  site.service.respond = () => undefined;
  const next = startShipping(site, options);
  await until('all is stored', () => site.service.stored.length === 60);
  await until('it is settled', () => isSettled(next));
  expect(await next.end()).toBe(0);
  const third = (rest: number) => range(60).filter((seq) => seq % 3 === rest);
  expect(storedIn(site)).toEqual({ red: third(0), green: third(1), blue: third(2) });
});

test('no event is missing or comes twice in any dataset through kills', async ({ site }) => {
  const options = { sources: { app: sourceOf(site, 'where seq % 7 != 0 | to_dataset(team)') }, sink: SINK };
  let written = 0;
  const grow = (count: number): void => {
    write(site, written, count);
    written += count;
  };
  for (const [turn, kind] of (['stored', 'lost', 'stored', 'lost'] as const).entries()) {
    let answered = 0;
    const hanging = new Set<string>();
    // Some datasets are ahead of others when it dies.
    const slow = ['red', 'green', 'blue'][turn % 3]!;
    site.service.respond = (request) => {
      const dataset = datasetOf(request);
      if (dataset !== slow && ++answered <= 6) return undefined;
      hanging.add(dataset);
      return { never: kind };
    };
    grow(900);
    const agent = startShipping(site, options);
    await until('requests hang', () => hanging.size > 0);
    grow(300);
    expect(await agent.end('SIGKILL')).toBe('SIGKILL');
  }
  site.service.respond = () => undefined;
  grow(300);
  const agent = startShipping(site, options);
  const wanted = range(written).filter((seq) => seq % 7 !== 0);
  await until('everything is stored', () => new Set(Object.values(storedIn(site)).flat()).size === wanted.length);
  await until('it is settled', () => isSettled(agent));
  expect(await agent.end()).toBe(0);
  expect(site.service.misusedKeys).toEqual([]);
  const of = (rest: number) => wanted.filter((seq) => seq % 3 === rest);
  expect(storedIn(site)).toEqual({ red: of(0), green: of(1), blue: of(2) });
});

test('no event is missing where the rules change after a kill', async ({ site }) => {
  const optionsOf = (transform: string) => ({ sources: { app: sourceOf(site, transform) }, sink: SINK });
  const seqs = () => new Set(Object.values(storedIn(site)).flat());
  let written = 0;
  for (const transform of ['to_dataset(team)', 'to_dataset(strcat(team, "-2"))', 'extend x = 1', 'to_dataset(team)']) {
    let answered = 0;
    const hanging = new Set<string>();
    site.service.respond = (request) =>
      ++answered <= 2 ? undefined : (hanging.add(datasetOf(request)), { never: 'lost' });
    write(site, written, 600);
    written += 600;
    const agent = startShipping(site, optionsOf(transform));
    await until('requests hang', () => hanging.size > 0);
    expect(await agent.end('SIGKILL')).toBe('SIGKILL');
  }
  site.service.respond = () => undefined;
  const agent = startShipping(site, optionsOf('to_dataset(strcat(team, "-3"))'));
  await until('everything is stored', () => seqs().size === written);
  await until('it is settled', () => isSettled(agent));
  expect(await agent.end()).toBe(0);
  expect(site.service.misusedKeys).toEqual([]);
});

test('three datasets of the real service have every event once, through kills and growth', async ({ site }) => {
  const service = await startLocalService(site.folder, 'logs');
  try {
    for (const name of ['red', 'green', 'blue']) await service.ask('POST', '/v1/datasets', { name });
    const options = {
      sources: { app: sourceOf(site, 'to_dataset(team)') },
      sink: `token: ${API_TOKEN}, ${SINK}`,
    };
    const real = { ...site, url: service.url };
    const count = async (name: string): Promise<number> =>
      Number((await service.aggregate(name, [{ op: 'count' }]))[0] ?? 0);
    const total = async (): Promise<number> => (await count('red')) + (await count('green')) + (await count('blue'));
    let written = 0;
    for (let turn = 0; turn < 3; turn++) {
      const before = await total();
      write(site, written, 3000);
      written += 3000;
      const agent = startShipping(real, options);
      await until('some is stored', async () => (await total()) > before, { withinMs: 120_000, everyMs: 20 });
      write(site, written, 300);
      written += 300;
      expect(await agent.end('SIGKILL')).toBe('SIGKILL');
    }
    const agent = startShipping(real, options);
    await until('all is settled', async () => (await total()) >= written && (await isSettled(agent)), {
      withinMs: 120_000,
    });
    expect(await agent.end()).toBe(0);
    for (const [rest, name] of ['red', 'green', 'blue'].entries()) {
      const found = (await service.events(name)).map(({ seq }) => Number(seq)).sort((a, b) => a - b);
      expect(found).toEqual(range(written).filter((seq) => seq % 3 === rest));
    }
    expect(await count('logs')).toBe(0);
  } finally {
    await service.program.end('SIGKILL');
  }
});
