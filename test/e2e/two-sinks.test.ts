/** Two sinks of one source with the real agent: what one of them cannot deliver neither loses nor doubles anything at the other. */
import { expect, onTestFinished, test } from 'vitest';
import { FaultService } from '../support/fault-service.ts';
import type { Program } from '../support/program.ts';
import { valueOf } from '../support/prometheus-text.ts';
import {
  addressOf,
  makeSite,
  metricsOf,
  QUICK,
  range,
  seqOf,
  type Site,
  startShipping,
  storedSeqs,
  writeLines,
} from '../support/shipping.ts';
import { until } from '../support/until.ts';
import { watchAccounting } from '../support/watch-accounting.ts';

/** An agent with the sinks `store` (the site's) and `other`. */
function startBoth(site: Site, otherUrl: string): Program {
  const common = `${QUICK}, batch: {max_age: 50ms, max_events: 50}`;
  return startShipping(site, {
    sink: common,
    sinks: { other: `{type: ingest, dataset: logs, url: "${otherUrl}", ${common}}` },
  });
}

const outcomesOf = async (address: string): Promise<Record<string, number | undefined>> => {
  const metrics = await metricsOf(address);
  const of = (outcome: string) => valueOf(metrics, 'tailrace_events_total', { source: 'app', outcome });
  return {
    accepted: of('accepted'),
    delivered: of('delivered'),
    dead: of('dead_lettered'),
    held: valueOf(metrics, 'tailrace_events_held', { source: 'app' }),
  };
};

test('two sinks, of which one is dead for a while and refuses events then, each get every line once, over kill -9 and at every scrape', async () => {
  const site = await makeSite();
  const dead = await FaultService.start();
  await dead.stop();
  writeLines(site, 200);
  const accounting = watchAccounting();
  onTestFinished(() => accounting.stop());
  const first = startBoth(site, dead.url);
  const address = await addressOf(first);
  accounting.watch(address);
  await until('the one that lives has all', () => site.service.stored.length >= 200);
  // No event has its outcome while a sink has not settled it.
  expect(await outcomesOf(address)).toEqual({ accepted: 200, delivered: 0, dead: 0, held: 200 });
  accounting.watch(undefined);
  await first.end('SIGKILL');

  const other = await FaultService.start(Number(new URL(dead.url).port));
  other.respond = ({ events }) => {
    const failed = events.flatMap((event, index) => (seqOf(event) % 100 === 7 ? [index] : []));
    return failed.length > 0 ? { failed } : undefined;
  };
  writeLines(site, 300, (seq) => `{"seq":${seq + 200}}`);
  const second = startBoth(site, dead.url);
  const next = await addressOf(second);
  accounting.watch(next);
  await until('both have what they take', () => site.service.stored.length >= 500 && other.stored.length >= 495);
  await until('nothing is held', async () => (await outcomesOf(next))['held'] === 0);
  const { accepted, delivered, dead: refused } = await outcomesOf(next);
  // Refused by one of two sinks: the worse outcome counts.
  expect([refused, delivered! + refused!]).toEqual([5, accepted]);
  await accounting.stop();
  expect(await second.end('SIGTERM')).toBe(0);
  expect(storedSeqs(site)).toEqual(range(500));
  expect(other.stored.map(seqOf).sort((a, b) => a - b)).toEqual(range(500).filter((seq) => seq % 100 !== 7));
  expect([site.service.misusedKeys, other.misusedKeys, accounting.problems]).toEqual([[], [], []]);
});
