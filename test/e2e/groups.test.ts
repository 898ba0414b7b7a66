/** Lines that carry the same key become one event, with the real agent: over kill -9 and growth of the file, the same keys give the same events. */
import { appendFileSync, closeSync, openSync, writeSync } from 'node:fs';
import { expect } from 'vitest';
import { messagesOf, QUICK, range, startShipping, test } from '../support/shipping.ts';
import { dice } from '../support/random.ts';
import { FaultService } from '../support/fault-service.ts';
import { until } from '../support/until.ts';

const START_MS = Date.parse('2026-11-22T10:00:00Z');
const sources = (folder: string, within: string): Record<string, string> => ({
  app: `{type: file, include: ["${folder}/logs/*.log*"], scan_interval: 100ms, group: {by: 'id=(\\d+)', within: ${within}}}`,
});

/** Lines of `count` groups, each of up to five lines among those of others, half a second of the log's time from one to the next. */
function interleaved(count: number, random: (below: number) => number): { lines: string[]; events: string[] } {
  const open: { id: number; left: number; lines: string[] }[] = [];
  const lines: string[] = [];
  const events: string[] = [];
  for (let id = 0; id < count || open.length > 0;) {
    const isNew = id < count && (open.length === 0 || (open.length < 4 && random(2) === 0));
    const group = isNew ? { id: id++, left: 1 + random(5), lines: [] } : open[random(open.length)]!;
    if (isNew) open.push(group);
    const line = `${new Date(START_MS + lines.length * 500).toISOString()} id=${group.id} ${'x'.repeat(random(40))}`;
    lines.push(line);
    group.lines.push(line);
    group.left -= 1;
    if (group.left > 0) continue;
    open.splice(open.indexOf(group), 1);
    events.push(group.lines.join('\n'));
  }
  return { lines, events };
}

const append = (log: string, lines: readonly string[]): void =>
  appendFileSync(log, lines.map((line) => `${line}\n`).join(''));

test('groups keep their events and keys over kills while the file grows', async ({ site }) => {
  const seed = Number(process.env['TAILRACE_SEED'] ?? 20_261_127);
  const random = dice(seed);
  const { service, folder, log } = site;
  const { lines, events } = interleaved(1500, random);
  const sink = `${QUICK}, concurrency: 3, batch: {max_events: 10, max_age: 50ms}`;
  const options = { sink, sources: sources(folder, '1m') };
  let written = 0;
  for (const kill of range(5)) {
    append(log, lines.slice(written, (written += 400)));
    const answers = service.requests.length + 1 + random(4);
    let held = 0;
    service.respond = () => {
      if (service.requests.length <= answers) return undefined;
      held += 1;
      // What the service stored and the agent does not know of is sent again under its key.
      return { never: held % 2 === 0 ? 'stored' : 'lost' };
    };
    const agent = startShipping(site, options);
    await until(`requests are held before kill ${kill}`, () => held >= 2);
    await agent.end('SIGKILL');
  }
  append(log, lines.slice(written));
  service.respond = () => undefined;
  const last = startShipping(site, { ...options, args: ['--once'] });
  expect(await last.exited).toBe(0);
  expect(messagesOf(site).sort()).toEqual(events.sort());
  expect(service.misusedKeys).toEqual([]);
});

test('groups of a batch in flight get a new key where a line behind them changed while no agent ran', async ({
  site,
}) => {
  const { service, folder, log } = site;
  const at = (second: number): string => new Date(START_MS + second * 1000).toISOString();
  // Longer than the fingerprint.
  const head = `${at(0)} ${'x'.repeat(1200)}`;
  const lines = [head, `${at(0)} id=1 one`, `${at(1)} id=2 one`, `${at(2)} id=1 two`, `${at(3)} id=3 one`];
  append(log, lines);
  service.respond = () => ({ never: 'stored' });
  const options = { sink: `${QUICK}, batch: {max_age: 50ms}`, sources: sources(folder, '2500ms') };
  const first = startShipping(site, options);
  await until('the first event is under way', () =>
    service.requests.some(({ events }) => events.some((event) => event.includes('two'))),
  );
  await first.end('SIGKILL');
  const { key } = service.requests.find(({ events }) => events.some((event) => event.includes('two')))!;
  const fd = openSync(log, 'r+');
  writeSync(fd, 'TWO', lines.slice(0, 4).join('\n').length - 3);
  closeSync(fd);
  service.respond = () => undefined;
  const again = startShipping(site, { ...options, args: ['--once'] });
  expect(await again.exited).toBe(0);
  const keys = service.requests
    .filter(({ events }) => events.some((event) => event.includes('TWO')))
    .map((request) => request.key);
  expect(keys.length).toBeGreaterThan(0);
  expect(keys).not.toContain(key);
  expect(service.misusedKeys).toEqual([]);
});

test('groups lose no line at either of two sinks, of which one lags, over kills and pauses', async ({ site }) => {
  const { service, folder, log } = site;
  const other = await FaultService.start();
  const { lines } = interleaved(300, dice(7));
  const quick = `${QUICK}, batch: {max_events: 5, max_age: 20ms}`;
  const options = {
    sink: quick,
    sinks: { other: `{type: ingest, dataset: logs, url: "${other.url}", ${quick}}` },
    sources: sources(folder, '500ms'),
  };
  let written = 0;
  for (const stop of [1, 2, 3]) {
    // One takes a few requests; the other gets what the source may read ahead of it.
    const most = other.requests.length + stop;
    other.respond = () => (other.requests.length > most ? { never: 'lost' } : undefined);
    append(log, lines.slice(written, (written += 150)));
    const agent = startShipping(site, options);
    await until(`requests of the other sink are held before kill ${stop}`, () => other.requests.length > most);
    await agent.end('SIGKILL');
  }
  append(log, lines.slice(written));
  other.respond = () => undefined;
  expect(await startShipping(site, { ...options, args: ['--once'] }).exited).toBe(0);
  for (const each of [service, other]) {
    const came = new Set(messagesOf({ ...site, service: each }).flatMap((message) => message.split('\n')));
    expect(lines.filter((line) => !came.has(line))).toEqual([]);
    expect(each.misusedKeys).toEqual([]);
  }
});
