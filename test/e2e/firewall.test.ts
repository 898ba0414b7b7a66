/**
 * The real agent before a web application firewall that answers some content with a page and 403, and before a service that takes its token's right away.
 * Each waits the minute that lies between the two refusals of an event.
 */
import { expect, onTestFinished } from 'vitest';
import {
  addressOf,
  command,
  listDeadLetters,
  QUICK,
  range,
  seqOf,
  startShipping,
  storedSeqs,
  test,
  writeLines,
} from '../support/shipping.ts';
import { until } from '../support/until.ts';
import { watchAccounting } from '../support/watch-accounting.ts';

const PAGE = '<!DOCTYPE html><html><head><title>Attack detected</title></head><body>Your request 4711 was blocked</body></html>';
const MINUTE = 60_000;
const SINK = `${QUICK}, batch: {max_age: 50ms, max_events: 20}`;

const lineOf = (poison: ReadonlySet<number>) => (seq: number) => `{"seq":${seq},"q":"${poison.has(seq) ? 'union select' : 'x'}"}`;
const firewall = ({ events }: { readonly events: readonly string[] }) =>
  events.some((event) => event.includes('union select'))
    ? { status: 403, headers: { 'content-type': 'text/html' }, body: PAGE }
    : undefined;

const listed = async (site: Parameters<typeof listDeadLetters>[0]): Promise<number[]> =>
  (await listDeadLetters(site)).map(({ seq }) => seq);

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
    await until('the events at fault are suspected', () => agent.stderr().includes('the content of an event is refused'));
    // Others are stored meanwhile.
    writeLines(site, 100, (seq) => lineOf(new Set())(200 + seq));
    await until('the new lines are stored', () => storedSeqs(site).length === 296);
    await until('the dead letters', async () => (await listed(site)).length === poison.size, { withinMs: 3 * MINUTE });
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

test(
  'agent whose token loses its right in the middle of working traffic pauses, loses nothing, and goes on',
  async ({ site }) => {
    let isRefused = false;
    const poison = new Set([30]);
    site.service.respond = (request) => (isRefused ? { status: 403, body: '{"message":"this token may not ingest"}' } : firewall(request));
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
    await until('a minute of refusals', () => site.service.requests.at(-1)!.at - refusedSinceMs > MINUTE + 5000, { withinMs: 5 * MINUTE });
    expect(await listed(site)).toEqual([]);
    isRefused = false;
    await until('all is stored', () => storedSeqs(site).length >= 299, { withinMs: MINUTE });
    await until('the dead letter', async () => (await listed(site)).length === 1, { withinMs: 2 * MINUTE });
    expect(await listed(site)).toEqual([30]);
    expect(storedSeqs(site)).toEqual(range(300).filter((seq) => seq !== 30));
    expect(await agent.end('SIGTERM')).toBe(0);
    expect(site.service.misusedKeys).toEqual([]);
  },
  5 * MINUTE,
);

test('agent paused by a 403 says what answered, and advises about the token only while nothing was stored', async ({ site }) => {
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
  await until('it is refused', () => site.service.requests.some(({ events }) => events.some((event) => seqOf(event) === 10)));
  expect((await command(site, 'check', '--online')).code).toBe(0);
  expect((await command(site, 'status')).stdout()).not.toContain('check that the token is an API token');
  expect(await agent.end('SIGTERM')).toBe(0);
});
