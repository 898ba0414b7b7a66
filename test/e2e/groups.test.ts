/** Lines that carry the same key become one event, with the real agent: over kill -9 and growth of the file, the same keys give the same events. */
import { appendFileSync } from 'node:fs';
import { expect } from 'vitest';
import { messagesOf, QUICK, range, startShipping, test } from '../support/shipping.ts';
import { dice } from '../support/random.ts';
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

test('groups keep their events and keys over kills while the file grows', async ({ site }) => {
  const seed = Number(process.env['TAILRACE_SEED'] ?? 20_261_127);
  const random = dice(seed);
  const { service, folder, log } = site;
  const { lines, events } = interleaved(1500, random);
  const sink = `${QUICK}, concurrency: 3, batch: {max_events: 10, max_age: 50ms}`;
  const options = { sink, sources: sources(folder, '1m') };
  let written = 0;
  for (const kill of range(5)) {
    appendFileSync(
      log,
      lines
        .slice(written, (written += 400))
        .map((line) => `${line}\n`)
        .join(''),
    );
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
  appendFileSync(
    log,
    lines
      .slice(written)
      .map((line) => `${line}\n`)
      .join(''),
  );
  service.respond = () => undefined;
  const last = startShipping(site, { ...options, args: ['--once'] });
  expect(await last.exited).toBe(0);
  expect(messagesOf(site).sort()).toEqual(events.sort());
  expect(service.misusedKeys).toEqual([]);
});
