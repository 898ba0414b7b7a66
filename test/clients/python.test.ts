/** The own suite of the Python client, axiom-py 0.15.0 from PyPI, against the service: unit tests and those that want a real one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeTree } from '../support/temp-tree.ts';
import { environmentOf, installed, run, serviceForClients } from './service.ts';

const python = installed('bin', 'pytest') && installed('bin', 'python');
const suite = installed('clients', 'axiom_py-0.15.0');
const needed = python && suite ? '' : ' (needs axiom-py 0.15.0: .ci/run installs it)';

/** Its tests that do not pass, and why. */
const LEFT_OUT = {
  'TestMplIntegration.test_mpl_query_returns_result':
    'skips itself: it wants a dataset of metrics, which the service cannot query',
  'TestMplIntegration.test_async_mpl_query_returns_result': 'skips itself: the same',
};

describe.skipIf(needed !== '')(`the suite of axiom-py${needed}`, () => {
  const client = serviceForClients();

  test('passes but for the tests that are named here', async () => {
    const report = join(makeTree({}), 'junit.xml');
    const env = {
      ...environmentOf(client),
      // Its edge client takes API tokens only.
      AXIOM_EDGE_TOKEN: client.apiToken,
      AXIOM_EDGE_URL: client.url,
      AXIOM_EDGE_DEPLOYMENT: 'local',
      PYTHONPATH: join(suite!, 'src'),
      PYTHONDONTWRITEBYTECODE: '1',
    };
    const { out } = await run(python!, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', `--junitxml=${report}`], {
      cwd: suite!,
      env,
    });
    const outcomes = [
      ...readFileSync(report, 'utf8').matchAll(/<testcase classname="([^"]*)" name="([^"]*)"[^>]*?(\/>|>\s*<(\w+))/g),
    ];
    const others = outcomes
      .filter(([, , , end]) => end !== '/>')
      .map(([, of, name]) => `${of!.split('.').at(-1)}.${name}`);
    expect(others.sort(), out).toEqual(Object.keys(LEFT_OUT).sort());
    expect(outcomes.length - others.length).toBe(134);
  });
});
