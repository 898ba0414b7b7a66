/** `run --watch-config` as the real program. */
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startProgram } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';
import { startRig } from './reload-rig.ts';

const INCLUDES = 'include_config: [conf.d/*.yaml]';
const watching = (more = '') => startRig({ filesOnly: true, more, args: ['--watch-config'] });
type Rig = Awaited<ReturnType<typeof watching>>;

/** Resolves once so many changes are in force, or refused. */
const wait = {
  inForce: (rig: Rig, times: number) =>
    until('it is in force', () => rig.count('the changed configuration is in force') === times),
  refused: (rig: Rig, times: number) =>
    until('it is refused', () => rig.count('the changed configuration has problems') === times),
};

test('run --watch-config takes a changed configuration into force, and leaves the one before where the new one has problems', async () => {
  const rig = await watching();
  const { configure, file, folder, service, reloads, program } = rig;
  configure({ sources: file('a', ', fields: {role: web}') });
  await wait.inForce(rig, 1);
  appendFileSync(join(folder, 'a.log'), '{"n":1}\n');
  await until('it is stored', () => service.lines.length === 1);
  expect(JSON.parse(service.lines[0]!)).toMatchObject({ n: 1, role: 'web' });

  configure({ sources: file('a', ', feilds: {}') });
  await wait.refused(rig, 1);
  appendFileSync(join(folder, 'a.log'), '{"n":2}\n');
  await until('it is stored', () => service.lines.length === 2);
  expect(JSON.parse(service.lines[1]!)).toMatchObject({ n: 2, role: 'web' });

  configure({ sources: file('a') });
  await wait.inForce(rig, 2);
  expect([await reloads('success'), await reloads('failure')]).toEqual([2, 1]);
  expect(await program.end('SIGTERM')).toBe(0);
});

test('run --watch-config notices files of conf.d and presets.d that come, change, are replaced and go, and scripts', async () => {
  const rig = await watching(INCLUDES);
  const { folder, file, configure } = rig;
  mkdirSync(join(folder, 'conf.d'));
  writeFileSync(join(folder, 'conf.d', 'b.yaml'), `sources:\n${file('b')}\n`);
  await wait.inForce(rig, 1);

  writeFileSync(join(folder, 'conf.d', 'new'), `sources:\n${file('b', ', fields: {role: db}')}\n`);
  renameSync(join(folder, 'conf.d', 'new'), join(folder, 'conf.d', 'b.yaml'));
  await wait.inForce(rig, 2);

  mkdirSync(join(folder, 'presets.d'));
  writeFileSync(join(folder, 'presets.d', 'own.yaml'), 'mine: {format: text}\n');
  await wait.inForce(rig, 3);

  const script = join(folder, 'scripts', 'shape.ts');
  mkdirSync(join(folder, 'scripts'));
  writeFileSync(script, 'export default (event) => ({ ...event, by: 1 });\n');
  chmodSync(script, 0o644);
  configure({ sources: file('a', `, transform: {script: ${script}}`) });
  await wait.inForce(rig, 4);
  writeFileSync(script, 'export default (event) => ({ ...event, by: 2 });\n');
  await wait.inForce(rig, 5);
  appendFileSync(join(folder, 'a.log'), '{"n":1}\n');
  await until('it is stored', () => rig.service.lines.length === 1);
  expect(JSON.parse(rig.service.lines[0]!)).toMatchObject({ n: 1, by: 2 });

  writeFileSync(script, 'export default (event) => {{\n');
  await wait.refused(rig, 1);
  rmSync(join(folder, 'conf.d', 'b.yaml'));
  writeFileSync(script, 'export default (event) => event;\n');
  await wait.inForce(rig, 6);
  expect(await rig.program.end('SIGTERM')).toBe(0);
});

test('run --watch-config ignores a touch without a change, and other files of the folder', async () => {
  const rig = await watching();
  const config = join(rig.folder, 'tailrace.yaml');
  const text = readFileSync(config);
  utimesSync(config, 1, 1);
  writeFileSync(config, text);
  writeFileSync(join(rig.folder, '.tailrace.yaml.swp'), 'x');
  rig.configure({ sources: rig.file('b') });
  await wait.inForce(rig, 1);
  expect(await rig.reloads('success')).toBe(1);
  expect(await rig.program.end('SIGTERM')).toBe(0);
});

test('run --watch-config follows a link that is pointed elsewhere, as Kubernetes replaces a ConfigMap', async () => {
  const folder = makeTree({ 'v1/.keep': '', 'v2/.keep': '' });
  const configure = (version: string, role: string): void =>
    writeFileSync(
      join(folder, version, 'tailrace.yaml'),
      `data_dir: ${join(folder, 'data')}\nfields: {role: ${role}}\nsources: {app: {type: file, include: ["${folder}/app.log"]}}\nsinks: {out: {type: console}}\n`,
    );
  configure('v1', 'web');
  configure('v2', 'db');
  symlinkSync('v1', join(folder, '..data'));
  symlinkSync('..data/tailrace.yaml', join(folder, 'tailrace.yaml'));
  const program = startProgram(['run', '--watch-config', '--config', join(folder, 'tailrace.yaml')]);
  await program.says('tailrace runs');
  symlinkSync('v2', join(folder, '..new'));
  renameSync(join(folder, '..new'), join(folder, '..data'));
  await program.says('the changed configuration is in force');
  rmSync(join(folder, 'v1'), { recursive: true });
  appendFileSync(join(folder, 'app.log'), '{"n":1}\n');
  await until('it is written', () => program.stdout().includes('"role":"db"'));
  expect(await program.end('SIGTERM')).toBe(0);
});

test('run takes --once or --watch-config, not both', async () => {
  const program = startProgram(['run', '--once', '--watch-config', '--config', 'x.yaml']);
  expect(await program.exited).toBe(2);
  expect(program.stderr()).toContain('run takes --once or --watch-config, not both');
});
