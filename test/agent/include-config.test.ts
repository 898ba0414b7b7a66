/** `include_config` as every command sees it, with a running agent and the real binary. */
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { test } from '../support/fake-service.ts';
import { startProgram } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';

const source = (id: string, folder: string, more = ''): string =>
  `sources:\n  ${id}: {type: file, include: ["${folder}/${id}.log"], scan_interval: 100ms${more}}\n`;

async function run(
  ...args: string[]
): Promise<{ readonly code: unknown; readonly out: string; readonly error: string }> {
  const program = startProgram(args);
  const code = await program.exited;
  return { code, out: program.stdout(), error: program.stderr() };
}

test('every command includes the files, and a reload takes added, changed and removed ones into force', async ({
  service,
}) => {
  const folder = makeTree({ 'a.log': '', 'b.log': '{"n":0}\n', 'conf.d/none': '' });
  const config = join(folder, 'tailrace.yaml');
  const included = (name: string): string => join(folder, 'conf.d', name);
  writeFileSync(
    config,
    `data_dir: ${join(folder, 'data')}
telemetry: {listen: none}
include_config: [conf.d/*.yaml]
sinks:
  store: {type: ingest, url: "${service.url}", token: secret, dataset: logs, batch: {max_age: 50ms}}
`,
  );
  writeFileSync(included('a.yaml'), source('a', folder));
  const program = startProgram(['run', '--config', config]);
  onTestFinished(async () => void (await program.end('SIGKILL')));
  await program.says('tailrace runs');
  const numbers = (): unknown[] => service.lines.map((line) => (JSON.parse(line) as { n: unknown }).n);
  const hashInForce = async (): Promise<string> => {
    const { config: inForce } = JSON.parse((await run('status', '--config', config, '--json')).out) as {
      config: { hash: string };
    };
    return inForce.hash;
  };
  const first = await hashInForce();

  writeFileSync(
    included('b.yaml'),
    `${source('b', folder, ', fields: {role: web}')}tests: [{source: b, input: ['{"n":1}'], expect: [{n: 1, role: web}]}]\n`,
  );
  expect(await run('check', '--config', config)).toMatchObject({
    code: 0,
    out: expect.stringContaining('2 sources (a, b)'),
  });
  expect(await run('reload', '--config', config)).toMatchObject({
    code: 0,
    out: expect.stringContaining('added: source b'),
  });
  await until('the line is stored', () => numbers().length === 1);
  expect(await hashInForce()).not.toBe(first);
  expect(await run('explain', join(folder, 'b.log'), '--config', config)).toMatchObject({
    code: 0,
    out: expect.stringContaining('b'),
  });
  expect(await run('preview', join(folder, 'b.log'), '--config', config)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/"role": ?"web"/),
  });
  expect(await run('test', '--config', config)).toMatchObject({ code: 0 });

  writeFileSync(included('c.yaml'), `# twice\n${source('a', folder)}`);
  const places = `${included('c.yaml')}:3:3: the source \`a\` is there twice: first at ${included('a.yaml')}:2:3`;
  expect(await run('check', '--config', config)).toMatchObject({ code: 2, error: expect.stringContaining(places) });
  expect(await run('reload', '--config', config)).toMatchObject({ code: 2, error: expect.stringContaining(places) });
  appendFileSync(join(folder, 'a.log'), '{"n":1}\n');
  await until('the configuration before is in force', () => numbers().length === 2);

  rmSync(included('c.yaml'));
  writeFileSync(included('a.yaml'), source('a', folder, ', fields: {role: db}'));
  rmSync(included('b.yaml'));
  const { code, out } = await run('reload', '--config', config, '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ ok: true, changes: { sources: { changed: ['a'], removed: ['b'] } } });
  expect(await program.end('SIGTERM')).toBe(0);
});
