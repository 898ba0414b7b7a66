/**
 * README.md, as a stranger types it: its configuration, the service and the agent that it starts, and its questions, in their order. Only ports and
 * the folder of the logs are others, because this machine's may be in use.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findProgram } from '../support/installed.ts';
import { freePort } from '../support/free-port.ts';
import { BINARY, type Program, startCommand } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';

const root = join(import.meta.dirname, '../..');

/** The text between the fences of each block of this kind, in order. */
function blocksOf(kind: string, page: string): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${kind}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, text]) => text!);
}

test.skipIf(findProgram('curl') === undefined)(
  'README is true from the first configuration to the last question (apt-get install curl)',
  async () => {
    const [service, telemetry] = [await freePort(), await freePort()];
    const folder = makeTree({ 'logs/dpkg.log': 'one line\n{"level":"info"}\n', 'logs/other.log': 'another line\n' });
    const page = readFileSync(join(root, 'README.md'), 'utf8')
      .replaceAll('127.0.0.1:4100', `127.0.0.1:${service}`)
      .replaceAll('127.0.0.1:9600', `127.0.0.1:${telemetry}`)
      .replaceAll('/var/log/', `${folder}/logs/`)
      .replaceAll('bin/tailrace', BINARY);
    const [yaml] = blocksOf('yaml', page);
    const [, terminals] = blocksOf('sh', page);
    const [serve, ship, look] = terminals!.replaceAll(/ +#.*$/gm, '').split(/\n(?=export )/);
    const here = makeTree({ 'tailrace.yaml': `${yaml}telemetry: {listen: "127.0.0.1:${telemetry}"}\n` });
    const env = { TAILRACE_URL: `http://127.0.0.1:${service}` };
    const shell = (script: string, more: Record<string, string> = {}): Program => {
      return startCommand('sh', ['-ec', `cd ${here}\n${script}`], { ...env, ...more });
    };

    const serving = shell(`exec ${serve!.trim()} --listen 127.0.0.1:${service}`);
    await until(
      'its tokens',
      () => serving.stdout().includes('first-tokens.json') || serving.process.exitCode !== null,
    );
    const [, file] = /^tokens +in (\S+),/m.exec(serving.stdout()) ?? [];
    expect(file, serving.stderr()).toBeDefined();
    const { ingest_token: token, api_token: asking } = JSON.parse(readFileSync(file!, 'utf8')) as Record<
      string,
      string
    >;

    const [check, run] = ship!.split(/^(?=.*tailrace run$)/m) as [string, string];
    const withToken = (script: string, value: string): string =>
      script.replace('TAILRACE_TOKEN=…', `TAILRACE_TOKEN=${value}`);
    const checked = shell(withToken(check, token!));
    expect(await checked.exited, checked.stderr()).toBe(0);
    expect(checked.stdout()).toContain('is valid: would run 1 source (app) and 1 sink (store)');
    const agent = shell(`exec ${run}`, { TAILRACE_TOKEN: token! });
    await until('the lines', async () => (await metricsOf(telemetry)).includes('outcome="delivered"} 3'));

    const asked = spawnSync('sh', ['-ec', `cd ${here}\n${withToken(look!, asking!)}`], {
      encoding: 'utf8',
      env: { ...process.env, ...env },
    });
    expect(asked.status, asked.stderr).toBe(0);
    for (const said of [' count_\n', '       3\n', '3 events accepted = 3 delivered', 'every byte is accounted for'])
      expect(asked.stdout + asked.stderr).toContain(said);
    expect(await agent.end('SIGTERM')).toBe(0);
    expect(await serving.end('SIGTERM')).toBe(0);
  },
);

async function metricsOf(port: number): Promise<string> {
  return fetch(`http://127.0.0.1:${port}/metrics`).then(
    (reply) => reply.text(),
    () => '',
  );
}
