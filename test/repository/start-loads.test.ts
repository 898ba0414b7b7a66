/** What an agent has in memory: nothing that only a request, an error or another command needs. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FakeService } from '../support/fake-service.ts';
import { runNode } from '../support/run-node.ts';
import { makeTree } from '../support/temp-tree.ts';
import { words } from '../support/words.ts';

/** Prints each module that is loaded, and each use of what loads ICU's data. */
const HOOK = `
import { registerHooks } from 'node:module';
registerHooks({ load(url, context, next) { console.log(url); return next(url, context); } });
const ofIntl = { construct(made, args) { console.log('Intl'); return Reflect.construct(made, args); } };
for (const name of ['DateTimeFormat', 'NumberFormat']) Intl[name] = new Proxy(Intl[name], ofIntl);
`;

/** Names what a run loads that reads these lines. */
async function loadedBy(lines: string, url: string): Promise<string[]> {
  const work = makeTree({ 'a.log': lines, 'hook.mjs': HOOK });
  const config = `data_dir: ${work}/data\nsources: {a: {type: file, include: ['${work}/*.log']}}
sinks: {s: {type: ingest, url: '${url}', token: t, dataset: logs}}\ntelemetry: {listen: '127.0.0.1:0', log_level: error}\n`;
  const file = join(makeTree({ 'tailrace.yaml': config }), 'tailrace.yaml');
  const main = join(import.meta.dirname, '../../src/main.ts');
  const printed = await runNode(['--import', join(work, 'hook.mjs'), main, 'run', '--once', '--config', file], {
    TZ: 'UTC',
  });
  return printed.split('\n').map((line) => line.replace(/^file:.*\/(node_modules|src)\//, '$1/'));
}

test('an agent without lines loads no ICU data, no room that it does not use, and three packages', async () => {
  const loaded = await loadedBy('', 'http://127.0.0.1:9');
  expect(loaded).toContain('src/sources/file/source.ts');
  expect(loaded.filter((name) => name === 'Intl')).toEqual([]);
  const folders = new Set(loaded.map((name) => /^(?:node_modules|src)\/(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? ''));
  expect([...folders].filter((name) => name.startsWith('node_modules/')).sort()).toEqual(words`
    node_modules/commander node_modules/picomatch node_modules/yaml
  `);
  for (const room of ['src/service', 'src/language', 'src/web']) expect(folders).not.toContain(room);
  // What these rooms are asked before their part is needed.
  const known = /(?:-type|limits|propose-journal|script-file)\.ts$/;
  const lazy = /^src\/(?:shaping|parsers\/formats|sources\/(?:syslog|journald|stdin))\//;
  expect(loaded.filter((name) => lazy.test(name) && !known.test(name))).toEqual([]);
});

test('run loads nothing of the client commands', async () => {
  const fake = await FakeService.start();
  fake.datasets.set('logs', {
    id: 'logs',
    name: 'logs',
    description: '',
    created: '',
    integrationConfigs: [],
    who: '',
  });
  const loaded = await loadedBy('one line\n', fake.url);
  expect(loaded).toContain('src/sinks/ingest/sink.ts');
  expect(fake.events.get('logs')).toHaveLength(1);
  // What it shares with the sink are a few pure functions.
  expect(loaded.filter((file) => /^src\/(cli\/client|client)\//.test(file)).sort()).toEqual(words`
    src/client/answer.ts src/client/classify.ts src/client/failure.ts src/client/ingest/event-bytes.ts
    src/client/ingest/split-lines.ts src/client/paths.ts
  `);
});
