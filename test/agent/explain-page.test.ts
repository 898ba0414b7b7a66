/** What the status page says of a path to whoever can reach its address. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { pageSourceOf } from '../../src/agent/control/page-source.ts';
import type { Components } from '../../src/agent/build/components.ts';
import type { Config } from '../../src/config/model.ts';
import type { DeadLetters } from '../../src/state/dead-letters.ts';
import { test } from '../sources/file/tail-rig.ts';

test('the page explains only paths that a source reaches, and says the same of all others, be they there or not', async ({
  rig,
}) => {
  for (const name of ['logs', 'closed']) mkdirSync(rig.path(name));
  for (const name of ['logs/a.log', 'logs/b.log', 'logs/a.txt', 'closed/secret', 'closed/secret.1'])
    writeFileSync(rig.path(name), 'x\n');
  symlinkSync('secret', rig.path('closed/link'));
  await rig.start({ glob: 'logs/*.log', exclude: ['b.log'] });
  await rig.drain();
  const pipeline = { source: rig.source, config: { id: 'app' }, lane: {} };
  const components = { sources: new Map([['app', pipeline]]), sinks: new Map() } as unknown as Components;
  const page = pageSourceOf({ config: {} as Config }, components, {} as DeadLetters, () => undefined);
  const explain = (path: string): string => JSON.stringify(page.explain(path)).replaceAll(path, 'PATH');
  expect(explain(rig.path('logs/a.log'))).toContain('"isRead":true');
  expect(explain(rig.path('logs/missing.log'))).toContain('nothing is there');
  const unknown = explain(rig.path('closed/nothing'));
  expect(JSON.parse(unknown)).toMatchObject([{ source: 'app', path: 'PATH', isRead: false }]);
  const others = [
    'closed/secret',
    'closed/secret.1',
    'closed/link',
    'closed',
    'logs',
    'logs/a.txt',
    'logs/b.log',
    'logs/a.log/x',
    'logs/../closed/secret',
  ];
  for (const path of [
    ...others.map((name) => rig.path(name)),
    `${rig.folder}/logs/./a.log`,
    '/etc/shadow',
    '/etc/ssh/ssh_host_rsa_key',
    '/',
  ])
    expect(explain(path).replace('"/"', '"PATH"'), path).toBe(unknown);
});
