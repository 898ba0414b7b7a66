/** What a pipeline and a script between the agent's files and the service must both hold. */
import { appendFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Program } from '../support/program.ts';
import { outcomes, QUICK, range, type Site, startShipping, writeLines } from '../support/shipping.ts';
import { until } from '../support/until.ts';

export const SINK = `${QUICK}, batch: {max_age: 50ms}`;

export const sourceOf = ({ folder }: Site, transform?: string): string =>
  `{type: file, include: ["${folder}/logs/*.log*"], scan_interval: 100ms${transform === undefined ? '' : `, transform: ${transform}`}}`;

export const storedOf = ({ service }: Site): Record<string, unknown>[] =>
  service.stored.map((event) => JSON.parse(event) as Record<string, unknown>);

/**
 * A transform that leaves out each third line, through one kill for each of these fates of the requests in flight: no key names two lists
 * of events, and each event is stored once.
 */
export async function surviveKills(
  site: Site,
  transform: string,
  fates: readonly ('stored' | 'lost')[],
  members = '',
): Promise<void> {
  const options = {
    sources: { app: sourceOf(site, transform) },
    sink: `${QUICK}, batch: {max_age: 20ms, max_events: 50}`,
  };
  let written = 0;
  const start = (): Program => {
    const lines = range(600).map((n) => `{${members}"seq":${written + n}}\n`);
    appendFileSync(site.log, lines.join(''));
    written += 600;
    return startShipping(site, options);
  };
  for (const never of fates) {
    let answered = 0;
    let hanging = 0;
    site.service.respond = () => (++answered <= 3 ? undefined : (hanging++, { never }));
    const agent = start();
    await until('requests hang', () => hanging > 0);
    expect(await agent.end('SIGKILL')).toBe('SIGKILL');
  }
  site.service.respond = () => undefined;
  const agent = start();
  await until('everything is stored', () => new Set(storedOf(site).map(({ seq }) => seq)).size === (written * 2) / 3);
  await until('it is settled', async () => (await outcomes(agent))['held'] === 0);
  expect(await agent.end()).toBe(0);
  expect(site.service.misusedKeys).toEqual([]);
  // Under the same keys nothing is stored twice: each event came once.
  expect(site.service.stored).toHaveLength((written * 2) / 3);
}

/** The transform in force adds `version: 1`; `change` breaks it, and then has it add `version: 2`. */
export async function reloadVersions(site: Site, agent: Program, change: (to: 'broken' | 2) => void): Promise<void> {
  const versions = () => storedOf(site).map(({ version }) => version);
  const isStored = async (count: number): Promise<void> => {
    writeLines(site, 1);
    await until(`line ${count} is stored`, () => versions().length === count);
  };
  const reload = async (said: string): Promise<void> => {
    agent.process.kill('SIGHUP');
    await agent.says(said);
  };
  await isStored(1);
  change('broken');
  await reload('the one before stays in force');
  await isStored(2);
  change(2);
  await reload('the changed configuration is in force');
  await isStored(3);
  expect(versions()).toEqual([1, 1, 2]);
  expect(await agent.end()).toBe(0);
}
