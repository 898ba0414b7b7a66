/** A service that repeats what it was sent: the token must not reach the log, a page, a metric, a dead letter or a terminal. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { FaultAnswer } from '../support/fault-service.ts';
import { addressOf, command, startShipping, test, writeLines } from '../support/shipping.ts';
import { until } from '../support/until.ts';

const OLD = 'xaat-old/0123456789"secret';
const NEW = 'xaat-new+9876543210&secret';

const PAGES = [
  'metrics',
  'healthz',
  'readyz',
  'status.json',
  'config.json',
  'dead-letters.json',
  'files.json',
  'history.json',
];

/** What a service writes of a token into its answer. */
const echo = (token: string): string =>
  [token, JSON.stringify(token), encodeURIComponent(token), Buffer.from(token).toString('base64')].join(' ');

function answers(token: string): Readonly<Record<string, (events: number) => FaultAnswer>> {
  const said = (status: number) => () => ({
    status,
    body: JSON.stringify({ message: `${'x'.repeat(100)} Authorization: Bearer ${echo(token)}` }),
  });
  const failures = (events: number): object[] =>
    Array.from({ length: events }, (_, index) => ({
      index,
      timestamp: echo(token),
      error: `${'y'.repeat(150)}${echo(token)}`,
    }));
  return {
    '400': said(400),
    '401': said(401),
    '404': said(404),
    '429': said(429),
    '500': said(500),
    'a page': () => ({ status: 502, body: `<h1>Bearer ${echo(token)}</h1>` }),
    'no result': () => ({ status: 200, body: `Bearer ${echo(token)}` }),
    'refused events': (events) => ({
      status: 200,
      body: JSON.stringify({
        ingested: 0,
        failed: events,
        failures: failures(events),
        processedBytes: 1,
        blocksCreated: 1,
        walLength: 0,
      }),
    }),
  };
}

test.for(Object.keys(answers('')))(
  'the token is nowhere to be seen after an answer that repeats it: %s',
  async (name, { site }) => {
    const file = join(site.folder, 'token');
    writeFileSync(file, OLD);
    const replace = (): void => {
      writeFileSync(`${file}.new`, NEW);
      renameSync(`${file}.new`, file);
    };
    const seen = new Set<string>();
    site.service.respond = ({ headers, key, events }) => {
      const token = String(headers['authorization']).replace('Bearer ', '');
      seen.add(token);
      // A service may be late, and speak of the token before; a command that starts later never knew that.
      return answers(seen.size > 1 && !key.startsWith('check-') ? OLD : token)[name]!(events.length);
    };
    writeLines(site, 3);
    const agent = startShipping(site, {
      sink: `token_file: "${file}", retry: {initial_backoff: 50ms, max_backoff: 100ms}`,
      logLevel: 'debug',
    });
    const address = await addressOf(agent);
    const shown: string[] = [];
    const look = async (): Promise<void> => {
      for (const page of PAGES) shown.push(await (await fetch(`${address}/${page}`)).text());
      for (const args of [
        ['status'],
        ['status', '--json'],
        ['explain', site.log],
        ['dead-letters', 'list', '--json'],
        ['check', '--online'],
      ]) {
        const { stdout, stderr } = await command(site, ...args);
        shown.push(stdout(), stderr());
      }
    };
    await until('the service has answered', () => seen.has(OLD));
    await look();
    replace();
    writeLines(site, 6);
    if (name !== '404') await until('it was asked with the other token', () => seen.has(NEW));
    await look();
    expect(await agent.end('SIGKILL')).toBe('SIGKILL');
    const text = [...shown, agent.stderr(), agent.stdout()].join('\n');
    expect(text).toContain('(hidden)');
    for (const token of [OLD, NEW])
      for (const form of [
        token,
        token.slice(0, 14),
        token.slice(-14),
        encodeURIComponent(token),
        Buffer.from(token).toString('base64').slice(0, 16),
      ])
        expect(text, form).not.toContain(form);
  },
);
