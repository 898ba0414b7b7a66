/** Debian packages, made with dpkg-deb. */
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Arch } from './executable.ts';
import { run } from './run.ts';
import { type PackageFile, writeTree } from './tree.ts';

/** The project has no public address. */
const MAIL = 'maintainers@tailrace.invalid';

const ARCHITECTURES: Readonly<Record<Arch, string>> = { x64: 'amd64', arm64: 'arm64' };

export interface PackageOptions {
  readonly root: string;
  /** A folder for this package alone. */
  readonly work: string;
  /** Where the package goes. */
  readonly out: string;
  readonly arch: Arch;
  readonly version: string;
  /** Every file of the package has it, so that two builds are equal. */
  readonly date: Date;
  readonly files: readonly PackageFile[];
  /** Compress fast, for tests. */
  readonly isFast: boolean;
}

/** Writes `tailrace_VERSION_ARCH.deb`; returns its path. */
export function buildDeb({ root, work, out, arch, version, date, files, isFast }: PackageOptions): string {
  const overrides: PackageFile = {
    path: '/usr/share/lintian/overrides/tailrace',
    mode: 0o644,
    content: Buffer.from(run('cat', [join(root, 'packaging/deb/lintian-overrides')])),
  };
  const changelog: PackageFile = {
    path: '/usr/share/doc/tailrace/changelog.gz',
    mode: 0o644,
    content: gzipSync(changelogFile(version, date), { level: 9 }),
  };
  const all = [...files, overrides, changelog];
  const control = join(work, 'DEBIAN');
  mkdirSync(control, { recursive: true });
  writeFileSync(join(control, 'control'), controlFile(arch, version, all));
  writeFileSync(
    join(control, 'conffiles'),
    `${all
      .filter(({ isConfig }) => isConfig)
      .map(({ path }) => path)
      .join('\n')}\n`,
  );
  writeFileSync(
    join(control, 'md5sums'),
    all
      .filter(({ isConfig }) => !isConfig)
      .map(checksumLine)
      .join(''),
  );
  for (const script of ['postinst', 'prerm', 'postrm']) {
    copyFileSync(join(root, 'packaging/deb', script), join(control, script));
    chmodSync(join(control, script), 0o755);
  }
  for (const name of ['control', 'conffiles', 'md5sums']) chmodSync(join(control, name), 0o644);
  writeTree(work, all, date);
  const path = join(out, `tailrace_${version}_${ARCHITECTURES[arch]}.deb`);
  const compression = isFast ? ['-Zgzip', '-z1'] : ['-Zxz'];
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(date.getTime() / 1000) };
  run('dpkg-deb', ['--build', '--root-owner-group', ...compression, work, path], { env });
  return path;
}

function checksumLine({ path, content }: PackageFile): string {
  return `${createHash('md5').update(content).digest('hex')}  ${path.slice(1)}\n`;
}

function controlFile(arch: Arch, version: string, files: readonly PackageFile[]): string {
  const kibibytes = files.reduce((sum, { content }) => sum + Math.ceil(content.length / 1024), 0);
  return `Package: tailrace
Version: ${version}
Architecture: ${ARCHITECTURES[arch]}
Maintainer: Tailrace maintainers <${MAIL}>
Installed-Size: ${kibibytes}
Depends: libc6 (>= 2.28), libstdc++6 (>= 11), libgcc-s1, libatomic1
Recommends: systemd
Section: admin
Priority: optional
Description: log-shipping agent that loses nothing
 Tailrace ships log files, standard input and syslog to a dataset service over
 HTTP. Every byte range is checkpointed only once the service has stored it, and
 the metrics prove it. Lines stay bytes, so it costs almost no CPU.
 .
 The package holds the agent and the client commands. A local service to ship to
 is in it, too; its query engine is installed by "tailrace engine install".
`;
}

/** In Debian's form; what changed is in CHANGELOG.md. */
function changelogFile(version: string, date: Date): string {
  return `tailrace (${version}) unstable; urgency=medium

  * See CHANGELOG.md.gz beside this file.

 -- Tailrace maintainers <${MAIL}>  ${date.toUTCString().replace('GMT', '+0000')}
`;
}
