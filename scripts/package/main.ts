/**
 * `npm run package`: the executable, the native packages, checksums and the bill of materials, in dist/packages/.
 * `--arch x64,arm64` (default: this machine's, and the other one where its Node is installed), `--fast` compresses little,
 * `--out DIR` puts them elsewhere.
 */
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { readVersion } from '../bundle.ts';
import { readCommandTable } from './command-table.ts';
import { billOfMaterials, bundledComponents, licenceText, nodeComponent } from './contents.ts';
import { buildDeb } from './deb.ts';
import { type Arch, buildExecutable } from './executable.ts';
import { findNode } from './node-binary.ts';
import { buildRpm } from './rpm.ts';
import { run } from './run.ts';
import { packageFiles } from './tree.ts';

const root = join(import.meta.dirname, '..', '..');
const { values } = parseArgs({
  options: { arch: { type: 'string' }, out: { type: 'string' }, fast: { type: 'boolean', default: false } },
});
const out = values.out ?? join(root, 'dist', 'packages');
const archs = (values.arch?.split(',') ?? ['x64', 'arm64']) as Arch[];
const version = readVersion(root);
const date = releaseDate();
const work = mkdtempSync(join(tmpdir(), 'tailrace-package-'));

try {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  for (const arch of archs) await packageFor(arch);
  writeChecksums();
} finally {
  rmSync(work, { recursive: true, force: true });
}

async function packageFor(arch: Arch): Promise<void> {
  const node = findNode(root, arch, join(work, 'node', arch));
  const { path, sources } = await buildExecutable({ root, work: join(work, 'executable', arch), arch, node });
  const components = [nodeComponent(dirname(dirname(node))), ...bundledComponents(root, sources)];
  const licences = licenceText(components);
  const files = packageFiles({ root, executable: path, commands: await readCommandTable(), version, date, licences });
  const common = { root, out, arch, version, date, files, isFast: values.fast };
  const executable = join(out, `tailrace-${version}-linux-${arch}`);
  copyFileSync(path, executable);
  const made = [executable, buildDeb({ ...common, work: join(work, 'deb', arch) })];
  if (hasProgram('rpmbuild')) made.push(buildRpm({ ...common, work: join(work, 'rpm', arch) }));
  else process.stderr.write('no rpm packages: rpmbuild is missing (apt-get install -y rpm)\n');
  if (arch === archs[0]) {
    writeFileSync(join(out, `tailrace-${version}.cdx.json`), billOfMaterials(components, version, date));
    writeFileSync(join(out, `tailrace-${version}-licenses.txt`), licences);
  }
  for (const file of made) console.log(`${(statSync(file).size / 1e6).toFixed(1).padStart(7)} MB  ${basename(file)}`);
}

/** As `sha256sum --check` reads them. */
function writeChecksums(): void {
  const lines = readdirSync(out)
    .toSorted()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(out, name)))
          .digest('hex')}  ${name}\n`,
    );
  writeFileSync(join(out, 'SHA256SUMS'), lines.join(''));
}

function hasProgram(name: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, name)));
}

/** `SOURCE_DATE_EPOCH`, or the time of the last commit: the same sources give the same packages. */
function releaseDate(): Date {
  const given = process.env['SOURCE_DATE_EPOCH'] ?? run('git', ['-C', root, 'log', '-1', '--format=%ct']).trim();
  return new Date(Number(given) * 1000);
}
