/** What `npm run package` writes: checksums that hold, packages that distributions' own tools accept, the same bytes every time. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findProgram } from '../support/installed.ts';
import { buildPackages, sharedPackages } from '../support/packages.ts';

const root = join(import.meta.dirname, '..', '..');
const missing = ['dpkg-deb', 'rpmbuild', 'lintian', 'strip', 'man'].filter((name) => findProgram(name) === undefined);
const needed = missing.length === 0 ? '' : ' (needs: apt-get install -y dpkg rpm lintian binutils man-db)';

let folder: string;

function run(command: string, cwd = folder): { status: number | null; out: string } {
  const { status, stdout, stderr } = spawnSync('bash', ['-c', command], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  });
  return { status, out: stdout + stderr };
}

describe.skipIf(missing.length > 0)(`packages${needed}`, () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tailrace-packages-'));
    symlinkSync((await sharedPackages()).folder, join(folder, 'one'));
    run('dpkg-deb -x one/*.deb tree');
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('have checksums that hold', () => {
    expect(run('cd one && sha256sum --check --strict SHA256SUMS').status).toBe(0);
    expect(readdirSync(join(folder, 'one'))).toHaveLength(
      1 +
        readFileSync(join(folder, 'one', 'SHA256SUMS'), 'utf8')
          .trim()
          .split('\n').length,
    );
  });

  test('are the same bytes when they are built again', async () => {
    expect(await buildPackages(join(folder, 'two'))).toBe('');
    expect(run('diff -r one two')).toEqual({ status: 0, out: '' });
  });

  test('have no errors for lintian', () => {
    const { out } = run('lintian --allow-root --fail-on error one/*.deb');
    expect(out.split('\n').filter((line) => /^[EW]:/.test(line))).toEqual([]);
  });

  test('hold the same files as deb and as rpm, but for what belongs to each', () => {
    const own = String.raw`/lintian|changelog\.gz|zsh/`;
    const files = (command: string): string[] =>
      run(command)
        .out.split('\n')
        .filter((path) => path !== '' && !path.endsWith('/') && !new RegExp(own).test(path))
        .toSorted();
    const deb = files(`dpkg-deb --fsys-tarfile one/*.deb | tar -t | sed 's#^\\.##'`);
    expect(deb).toContain('/usr/bin/tailrace');
    expect(deb).toContain('/usr/lib/systemd/system/tailrace@.service');
    expect(files('rpm -qpl one/*.rpm')).toEqual(deb);
    expect(run('rpm -qpc one/*.rpm').out.trim().split('\n').toSorted()).toEqual([
      '/etc/tailrace/conf.d/README',
      '/etc/tailrace/tailrace.yaml',
    ]);
  });

  test('the executable runs without Node and without files beside it', () => {
    const { status, out } = run(`env -i PATH=/nowhere "$PWD/tree/usr/bin/tailrace" --version`);
    expect({ status, out: out.trim() }).toEqual({
      status: 0,
      out: JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version,
    });
    expect(
      run(
        `printf '{"a":1}\\n' >a.log; printf 'sources: {a: {type: file, include: [%s/a.log]}}\\nsinks: {s: {type: ingest, url: "http://127.0.0.1:1", token: t, dataset: d}}\\n' "$PWD" >t.yaml; tree/usr/bin/tailrace check -c t.yaml`,
      ).status,
    ).toBe(0);
  });

  test('the executable runs a transform script, and ends one that takes all memory', () => {
    const script =
      'export default (event) => { const hoard = []; if (event.a === 2) for (;;) hoard.push({}); return { ...event, b: 1 }; };';
    const config =
      'sources: {a: {type: stdin, transform: {script: shape.ts}}}\nsinks: {s: {type: ingest, url: "http://127.0.0.1:1", token: t, dataset: d}}\n';
    writeFileSync(join(folder, 'shape.ts'), script, { mode: 0o644 });
    writeFileSync(join(folder, 'script.yaml'), config);
    const { out } = run(
      String.raw`printf '{"a":1}\n{"a":2}\n{"a":3}\n' | tree/usr/bin/tailrace preview --json --source a -c script.yaml 2>/dev/null`,
    );
    const events = out
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { events: Record<string, unknown>[] }).events[0]);
    expect(events).toMatchObject([
      { a: 1, b: 1 },
      { a: 2, transform_error: expect.stringContaining('the script took') },
      { a: 3, b: 1 },
    ]);
  });

  test('the executable holds the status page', () => {
    const config = String.raw`sources: {a: {type: file, include: ["'$PWD'/a.log"]}}\nsinks: {s: {type: ingest, url: "http://127.0.0.1:1", token: t, dataset: d}}\ndata_dir: data\ntelemetry: {listen: "127.0.0.1:0"}\n`;
    const script = `printf '${config}' >page.yaml; : >page.log; tree/usr/bin/tailrace run -c page.yaml 2>>page.log & pid=$!
      until address=$(grep -o 'http://127.0.0.1:[0-9]*' page.log | grep -v ':1$'); do kill -0 $pid || break; sleep 0.1; done
      for file in '' status-page.js status-page.css; do curl -sf -o /dev/null -w '%{http_code} ' $address/$file; done; kill $pid`;
    expect(run(script).out.trim()).toBe('200 200 200');
  });

  test('the manual page renders without a warning and names every command', () => {
    expect(run('man --warnings -E UTF-8 -l -Tutf8 -Z tree/usr/share/man/man1/tailrace.1.gz >/dev/null').out).toBe('');
    const page = run('man -l tree/usr/share/man/man1/tailrace.1.gz | cat').out;
    for (const command of ['run', 'check', 'serve', 'dead-letters', 'datasets list', 'query'])
      expect(page).toContain(`tailrace ${command}`);
  });

  test('bash completes commands, subcommands, options and choices', () => {
    const complete = (...words: string[]): string[] => {
      const list = words.map((word) => `'${word}'`).join(' ');
      const script = `source tree/usr/share/bash-completion/completions/tailrace; COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _tailrace; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return run(script).out.trim().split('\n');
    };
    expect(complete('tailrace', 'dead')).toEqual(['dead-letters']);
    expect(complete('tailrace', 'datasets', 'tr')).toEqual(['trim']);
    expect(complete('tailrace', 'run', '--on')).toEqual(['--once']);
    expect(complete('tailrace', 'run', '--log-level', 'w')).toEqual(['warn']);
  });

  test('the bill of materials names Node and every bundled package with a licence', () => {
    const name = readdirSync(join(folder, 'one')).find((each) => each.endsWith('.cdx.json'))!;
    const bom = JSON.parse(readFileSync(join(folder, 'one', name), 'utf8')) as {
      bomFormat: string;
      components: { name: string; version: string; licenses: unknown[] }[];
    };
    expect(bom.bomFormat).toBe('CycloneDX');
    expect(bom.components.map((each) => each.name)).toEqual(
      expect.arrayContaining(['node', 'undici', 'pino', 'yaml', 'commander', 'preact', 'uplot']),
    );
    expect(bom.components.filter(({ licenses }) => JSON.stringify(licenses).includes('UNKNOWN'))).toEqual([]);
  });
});
