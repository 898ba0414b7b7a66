/** The real agent before a firewall and a service that takes its token's right away: it waits the minute that lies between two refusals of an event. */
import { expect } from 'vitest';
import {
  addressOf,
  command,
  outcomes,
  range,
  startShipping,
  storedSeqs,
  test,
  writeLines,
} from '../support/shipping.ts';
import { until } from '../support/until.ts';
import { firewall, lineOf, listed, MINUTE, SINK } from './firewall.ts';

test(
  'agent whose token loses its right in the middle of working traffic pauses, loses nothing, and goes on',
  async ({ site }) => {
    let isRefused = false;
    const poison = new Set([30]);
    site.service.respond = (request) =>
      isRefused ? { status: 403, body: '{"message":"this token may not ingest"}' } : firewall(request);
    writeLines(site, 200, lineOf(poison));
    const agent = startShipping(site, { sink: SINK });
    const address = await addressOf(agent);
    // The event of the firewall is suspected when the token goes, so that a refusal could be taken for one of content.
    await until('the event at fault is suspected', () => agent.stderr().includes('the content of an event is refused'));
    isRefused = true;
    writeLines(site, 100, (seq) => lineOf(poison)(200 + seq));
    await until('the pause', async () => (await fetch(`${address}/readyz`)).status === 503);
    const status = await command(site, 'status');
    expect(status.code).toBe(1);
    expect(status.stdout()).toContain('this token may not ingest');
    expect(status.stdout()).toContain('tailrace check --online');
    expect((await command(site, 'check', '--online')).code).not.toBe(0);
    const refusedSinceMs = site.service.requests.at(-1)!.at;
    await until('a minute of refusals', () => site.service.requests.at(-1)!.at - refusedSinceMs > MINUTE + 5000, {
      withinMs: 5 * MINUTE,
    });
    expect(await listed(site)).toEqual([]);
    isRefused = false;
    await until('all is stored', () => storedSeqs(site).length >= 299, { withinMs: MINUTE });
    await until('the dead letter', async () => (await outcomes(agent))['dead_lettered'] === 1, {
      withinMs: 2 * MINUTE,
      everyMs: 250,
    });
    expect(await listed(site)).toEqual([30]);
    expect(storedSeqs(site)).toEqual(range(300).filter((seq) => seq !== 30));
    expect(await agent.end('SIGTERM')).toBe(0);
    expect(site.service.misusedKeys).toEqual([]);
  },
  5 * MINUTE,
);
