/** A run that ends by itself, and a service that is away for longer than a stop would wait. */
import { expect } from 'vitest';
import { lineOf, makeSite, range, startShipping, storedSeqs, test, writeLines } from '../support/shipping.ts';

/** A stop gives up on a refusing service after five seconds, and ending and stopping were two such waits. */
const OUTAGE_MS = 13_000;

// Symptom: `run --once` ended with 1, and `… | tailrace run` with 0 and nothing delivered, ten seconds into an outage. Cause: what all of
// the sources had given was waited for no longer than at a stop. Fix: standard input that has ended is delivered however long it takes
// (a signal ends it), and `--once` gives up after `shutdown_timeout` without anything stored.
test('runs that end by themselves outlast a service that is away', async () => {
  const runs = ['files', 'standard input'].map(async (kind) => {
    const site = await makeSite();
    let from: number | undefined;
    site.service.respond = () => (Date.now() - (from ??= Date.now()) < OUTAGE_MS ? { status: 503 } : undefined);
    if (kind === 'files') {
      writeLines(site, 100);
      expect(await startShipping(site, { args: ['--once'], top: 'shutdown_timeout: 10m' }).exited).toBe(0);
    } else {
      const agent = startShipping(site, { stdin: 'pipe', sources: { pipe: '{type: stdin}' } });
      agent.process.stdin!.end(
        range(100)
          .map((seq) => `${lineOf(seq)}\n`)
          .join(''),
      );
      expect(await agent.exited).toBe(0);
    }
    expect(storedSeqs(site)).toEqual(range(100));
  });
  await Promise.all(runs);
});

test('run --once ends with 1 when nothing was stored for shutdown_timeout, and the next one delivers', async ({
  site,
}) => {
  writeLines(site, 100);
  site.service.respond = () => ({ status: 503 });
  const given = startShipping(site, { args: ['--once'], top: 'shutdown_timeout: 1s' });
  expect(await given.exited).toBe(1);
  expect(JSON.parse(await given.says('"keptEvents"'))).toMatchObject({ keptEvents: 100 });
  expect(JSON.parse(await given.says('not everything was delivered'))).toMatchObject({ level: 'error', events: 100 });
  site.service.respond = () => undefined;
  expect(await startShipping(site, { args: ['--once'] }).exited).toBe(0);
  expect(storedSeqs(site)).toEqual(range(100));
});
