/** The container image, built by the real Dockerfile and run: no shell in it, not root, nothing written outside of its volume. */
import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { test } from '../support/fake-service.ts';
import { findProgram } from '../support/installed.ts';
import { sharedPackages } from '../support/packages.ts';
import { until } from '../support/until.ts';

const root = join(import.meta.dirname, '..', '..');
const canBuild = process.getuid?.() === 0 && findProgram('buildah') !== undefined;
const needed = canBuild ? '' : ' (needs root, and: apt-get install -y buildah)';

let folder: string;

function run(command: string): string {
  const { status, stdout, stderr } = spawnSync('bash', ['-ec', command], { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${stdout}${stderr}`);
  return stdout;
}

const buildah = (args: string): string =>
  run(`buildah --storage-driver vfs --root ${folder}/storage --runroot ${folder}/run ${args}`).trim();

/** No image can be pulled in a test: the base is what the Dockerfile's build stage calls, out of this machine. */
function makeBase(): void {
  run(`mkdir -p base/etc base/tmp
    ln -s usr/bin base/bin; ln -s usr/sbin base/sbin; ln -s usr/lib base/lib; ln -s usr/lib64 base/lib64
    mkdir -p base/usr/bin base/usr/sbin base/usr/lib base/usr/lib64 base/etc/ssl/certs
    cp -L /etc/ssl/certs/ca-certificates.crt base/etc/ssl/certs/; cp /etc/ld.so.conf base/etc/; cp -r /etc/ld.so.conf.d base/etc/
    for program in sh bash grep install ldd; do cp -L "$(command -v $program)" base/usr/bin/; done
    cp -L /sbin/ldconfig base/usr/sbin/
    for file in base/usr/bin/* ${root}/scripts/runtime/node_modules/node-linux-${process.arch}/bin/node; do
      for library in $(ldd "$file" 2>/dev/null | grep -o '/[^ ]*'); do mkdir -p "base$(dirname "$library")"; cp -L "$library" "base$library"; done
    done
    ldconfig -r base`);
  const container = buildah('from scratch');
  buildah(`add -q ${container} base /`);
  buildah(`commit -q ${container} base`);
}

describe.skipIf(!canBuild)(`the container image${needed}`, () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tailrace-container-'));
    const context = join(folder, 'context');
    mkdirSync(context);
    for (const name of ['Dockerfile', '.dockerignore']) cpSync(join(root, name), join(context, name));
    cpSync((await sharedPackages()).folder, join(context, 'dist', 'packages'), { recursive: true });
    makeBase();
    const arch = process.arch === 'x64' ? 'amd64' : process.arch;
    buildah(
      `bud -q --format docker --isolation chroot --build-arg BASE=localhost/base --build-arg TARGETARCH=${arch} -t tailrace context`,
    );
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('is not root, has no shell, and is checked by the binary itself', () => {
    const { Docker } = JSON.parse(buildah('inspect --type image tailrace')) as {
      Docker: { config: { User: string; Healthcheck: { Test: string[] }; Entrypoint: string[] } };
    };
    expect(Docker.config.User).toBe('65532:65532');
    expect(Docker.config.Healthcheck.Test).toEqual(['CMD', '/usr/bin/tailrace', 'status', '--health']);
    const container = buildah('from localhost/tailrace');
    const files = run(`find ${buildah(`mount ${container}`)} -type f -perm /111 -printf '%P\\n'`)
      .trim()
      .split('\n');
    expect(files.filter((path) => !/\.so[.\d]*$/.test(path))).toEqual(['usr/bin/tailrace']);
  });

  test('ships a file, and writes nothing outside of its volume', async ({ service }) => {
    mkdirSync(join(folder, 'logs'));
    mkdirSync(join(folder, 'state'));
    run('chown 65532 state; chmod 755 logs .');
    appendFileSync(join(folder, 'logs', 'app.log'), 'from a container\n');
    writeFileSync(
      join(folder, 'tailrace.yaml'),
      `data_dir: /state
telemetry: {listen: "127.0.0.1:0"}
sources: {app: {type: file, include: [/logs/*.log]}}
sinks: {store: {type: ingest, url: "${service.url}", token: t, dataset: logs}}
`,
    );
    const container = buildah('from localhost/tailrace');
    const mounted = buildah(`mount ${container}`);
    const before = run(`find ${mounted} -newermt now -printf '%P\\n'`);
    const child = spawn(
      'buildah',
      `--storage-driver vfs --root ${folder}/storage --runroot ${folder}/run run --isolation chroot -v ${folder}/logs:/logs:ro -v ${folder}/state:/state -v ${folder}/tailrace.yaml:/etc/tailrace/tailrace.yaml:ro ${container} -- /usr/bin/tailrace run --config /etc/tailrace/tailrace.yaml`.split(
        ' ',
      ),
      { stdio: ['ignore', 'ignore', 'pipe'], detached: true },
    );
    let log = '';
    child.stderr.on('data', (text) => (log += String(text)));
    const exited = new Promise((resolve) => child.once('exit', resolve));
    await until(
      'the line arrives',
      () => [...service.stored.values()].flat().some((event) => event.includes('from a container')),
      {
        withinMs: 60_000,
        everyMs: 50,
      },
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${log}`);
    });
    process.kill(-child.pid!, 'SIGTERM');
    await exited;
    expect(run(`find ${mounted} -newermt now -printf '%P\\n'`)).toBe(before);
    expect(run('ls state')).toContain('state.db');
  });
});
