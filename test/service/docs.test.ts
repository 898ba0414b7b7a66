/** docs/service.md: every line of shell on it runs, in its order, and every endpoint has one. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findProgram } from '../support/installed.ts';
import type { OpenApiDocument } from './openapi-check.ts';
import { serviceForSuite } from './support.ts';

const PAGE = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'service.md'), 'utf8');
const BLOCKS = [...PAGE.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text]) => text!);

const { under } = serviceForSuite();

/** Runs the text in bash, stopping at the first failure; every refused request is one. */
function bash(text: string): Promise<{ code: number | null; out: string }> {
  const { url, apiToken, personalToken, orgId } = under.client;
  const child = spawn(
    'bash',
    ['-euo', 'pipefail', '-c', `curl() { command curl -sS --fail-with-body "$@"; }\n${text}`],
    {
      env: { PATH: process.env['PATH'], URL: url, TOKEN: apiToken, PERSONAL: personalToken, ORG: orgId },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let out = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (out += chunk.toString()));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out })));
}

const curl = findProgram('curl');

describe('docs/service.md', () => {
  test.runIf(curl)(`its shell runs${curl ? '' : ' (needs curl: apt-get install curl)'}`, async () => {
    const { code, out } = await bash(BLOCKS.join('\n'));
    expect([code, out.slice(-500)]).toEqual([0, expect.not.stringContaining('{"code":')]);
    expect(out).toContain('"ingested":2,"failed":0');
    expect(out).toContain('"numDeleted":0');
    // Nothing was left out of what it stored: three requests, five events.
    const { status } = await under.client.query('logs', { startTime: '2000-01-01T00:00:00Z' });
    expect(status['rowsMatched']).toBe(5);
  });

  test('has a line for every endpoint', async () => {
    const { paths } = (await under.client.call('GET', '/openapi.json')).json as unknown as OpenApiDocument;
    const shown = BLOCKS.join('\n')
      .replaceAll('\\\n', ' ')
      .split('\n')
      .filter((line) => line.includes('curl '))
      .map((line) => {
        const path = /"\$URL([^"?]*)/.exec(line)![1]!;
        const method = /-X (\w+)/.exec(line)?.[1] ?? (/ -d |--data/.test(line) ? 'POST' : 'GET');
        return { method: method.toLowerCase(), path };
      });
    for (const [path, methods] of Object.entries(paths)) {
      const pattern = new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);
      for (const method of Object.keys(methods))
        expect([method, path, shown.some((line) => line.method === method && pattern.test(line.path))]).toEqual([
          method,
          path,
          true,
        ]);
    }
  });
});
