/**
 * The real agent before a web application firewall that answers some content with a page and 403. It waits the minute that lies between the two
 * refusals of an event; so does firewall-rights.test.ts, in a file of its own to wait at the same time.
 */
import { expect, onTestFinished } from 'vitest';
import {
  addressOf,
  command,
  listDeadLetters,
  outcomes,
  range,
  seqOf,
  startShipping,
  storedSeqs,
  test,
  writeLines,
} from '../support/shipping.ts';
import { firewall, lineOf, listed, MINUTE, PAGE, SINK } from './firewall.ts';
import { until } from '../support/until.ts';
import { watchAccounting } from '../support/watch-accounting.ts';

test(
  'agent keeps what a firewall refuses as dead letters with the page’s title, stores the rest, and survives a kill meanwhile',
  async ({ site }) => {
    const poison = new Set([7, 55, 56, 199]);
    writeLines(site, 200, lineOf(poison));
    site.service.respond = firewall;
    const first = startShipping(site, { sink: SINK });
    await until('all others are stored', () => storedSeqs(site).length === 196, { withinMs: 30_000 });
    expect(first.stderr()).toContain('HTTP 403 Attack detected');
    // Nothing is judged yet.
    expect(await listed(site)).toEqual([]);
    await first.end('SIGKILL');

    const agent = startShipping(site, { sink: SINK });
    const accounting = watchAccounting();
    onTestFinished(() => accounting.stop());
    const address = await addressOf(agent);
    accounting.watch(address);
    await until('the events at fault are suspected', () =>
      agent.stderr().includes('the content of an event is refused'),
    );
    // Others are stored meanwhile.
    writeLines(site, 100, (seq) => lineOf(new Set())(200 + seq));
    await until('the new lines are stored', () => storedSeqs(site).length === 296);
    await until('the dead letters', async () => (await outcomes(agent))['dead_lettered'] === poison.size, {
      withinMs: 3 * MINUTE,
      everyMs: 250,
    });
    await accounting.stop();
    expect(accounting.problems).toEqual([]);
    expect(await listed(site)).toEqual([...poison]);
    const letters = await listDeadLetters(site);
    for (const letter of letters)
      expect(letter).toMatchObject({ status: 403, reason: expect.stringContaining('HTTP 403 Attack detected') });
    await until('it is ready', async () => (await fetch(`${address}/readyz`)).status === 200);
    expect(await agent.end('SIGTERM')).toBe(0);
    expect(storedSeqs(site)).toEqual(range(300).filter((seq) => !poison.has(seq)));
    expect(site.service.misusedKeys).toEqual([]);
  },
  5 * MINUTE,
);

test('agent paused by a 403 says what answered, and advises about the token only while nothing was stored', async ({
  site,
}) => {
  site.service.respond = () => ({ status: 403, headers: { 'content-type': 'text/html' }, body: PAGE });
  writeLines(site, 10, (seq) => `{"seq":${seq}}`);
  const agent = startShipping(site, { sink: SINK });
  await agent.says('delivery is paused');
  const never = await command(site, 'status');
  expect(never.stdout()).toContain('HTTP 403 Attack detected');
  expect(never.stdout()).toContain('check that the token is an API token that may ingest');
  expect(never.stdout()).toContain('a page');
  site.service.respond = firewall;
  await until('they are stored', () => storedSeqs(site).length === 10);
  // The only line there is: check --online finds nothing wrong, and status must not blame the token.
  writeLines(site, 1, () => '{"seq":10,"q":"union select"}');
  await until('it is refused', () =>
    site.service.requests.some(({ events }) => events.some((event) => seqOf(event) === 10)),
  );
  expect((await command(site, 'check', '--online')).code).toBe(0);
  expect((await command(site, 'status')).stdout()).not.toContain('check that the token is an API token');
  expect(await agent.end('SIGTERM')).toBe(0);
});
