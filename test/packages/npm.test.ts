/** The package as `npm pack` makes it: installed by npm into an empty folder, it runs, and every link of its pages leads somewhere. */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startCommand } from '../support/program.ts';
import { until } from '../support/until.ts';

const root = join(import.meta.dirname, '..', '..');
const env = { ...process.env, PATH: dirname(process.execPath) + delimiter + process.env['PATH'] };

describe('the npm package', () => {
  let work: string;
  /** Nothing but the package and what npm brought with it. */
  let folder: string;
  let installed: string;

  beforeAll(() => {
    work = mkdtempSync(join(tmpdir(), 'tailrace-npm-'));
    const checkout = join(work, 'checkout');
    const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] };
    for (const name of ['package.json', 'README.md', 'LICENSE', ...files.filter((each) => each !== 'dist/')])
      cpSync(join(root, name), join(checkout, name), { recursive: true });
    must(process.execPath, [join(root, 'scripts/build.ts'), '--out', join(checkout, 'dist')], root);
    must('npm', ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', work], checkout);
    const [archive] = globSync('tailrace-*.tgz', { cwd: work });
    folder = join(work, 'empty');
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    must(
      'npm',
      ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', join(work, archive!)],
      folder,
    );
    installed = join(folder, 'node_modules', 'tailrace');
  });
  afterAll(() => rmSync(work, { recursive: true, force: true }));

  function must(command: string, args: readonly string[], cwd: string): void {
    const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', env });
    if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}: ${stdout}${stderr}`);
  }

  test('has the documentation and the schema, and every link leads to something in it', () => {
    expect(existsSync(join(installed, 'docs/config.schema.json'))).toBe(true);
    const pages = globSync('**/*.md', { cwd: installed });
    expect(pages).toEqual(
      expect.arrayContaining([
        'README.md',
        'ARCHITECTURE.md',
        'docs/README.md',
        'docs/operations.md',
        'examples/README.md',
      ]),
    );
    const broken = pages.flatMap((page) => {
      const text = readFileSync(join(installed, page), 'utf8').replaceAll(/^```.*?^```/gms, '');
      const links = [...text.matchAll(/\]\((?!https?:|mailto:|#)([^)\s#]+)/g)].map(([, link]) =>
        join(installed, dirname(page), link!),
      );
      return links.filter((target) => !existsSync(target)).map((target) => `${page}: ${relative(installed, target)}`);
    });
    expect(broken).toEqual([]);
  });

  test('runs by npx, and says how the engine comes where it is not installed', () => {
    const npx = (...args: string[]) =>
      spawnSync('npx', ['--no-install', 'tailrace', ...args], { cwd: folder, encoding: 'utf8', env });
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(npx('--version')).toMatchObject({ status: 0, stdout: `${version}\n` });
    const demo = npx('demo');
    expect(demo.status).toBe(1);
    expect(demo.stderr).toMatch(/the embedded engine cannot be loaded: .*\n {2}fix: npm install chdb@[\d.]+\n/);
  });

  test('shows the demo once the engine is there', async () => {
    // As `npm install chdb` does, without fetching 170 MB again.
    const engine = join(folder, 'node_modules', 'chdb');
    symlinkSync(join(root, 'node_modules', 'chdb'), engine);
    const demo = startCommand(join(folder, 'node_modules/.bin/tailrace'), ['demo'], { PATH: env.PATH, TMPDIR: folder });
    onTestFinished(() => void demo.process.kill('SIGKILL'));
    await until('stored events', () => /stored [1-9]/.test(demo.stdout()) || demo.process.exitCode !== null);
    expect(await demo.end('SIGINT'), demo.stderr()).toBe(0);
    expect(demo.stdout()).toMatch(/stored [1-9]/);
  });
});
