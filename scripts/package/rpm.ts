/** RPM packages, made with rpmbuild from the same files as the Debian package. */
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PackageOptions } from './deb.ts';
import { run } from './run.ts';
import { writeTree } from './tree.ts';

const ARCHITECTURES = { x64: 'x86_64', arm64: 'aarch64' } as const;

/** Paths that Debian and the RPM distributions name differently. */
const MOVED: Readonly<Record<string, string>> = {
  '/usr/share/zsh/vendor-completions/': '/usr/share/zsh/site-functions/',
};

/** Writes `tailrace-VERSION-1.ARCH.rpm`; returns its path. */
export function buildRpm(options: PackageOptions): string {
  const { work, out, arch, version, date, isFast } = options;
  const files = options.files.map((file) => {
    const moved = Object.entries(MOVED).find(([from]) => file.path.startsWith(from));
    return moved ? { ...file, path: file.path.replace(moved[0], moved[1]) } : file;
  });
  const tree = join(work, 'tree');
  writeTree(tree, files, date);
  const spec = join(work, 'tailrace.spec');
  writeFileSync(spec, specFile({ ...options, files }));
  const top = join(work, 'rpmbuild');
  mkdirSync(top, { recursive: true });
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(date.getTime() / 1000) };
  const defines = {
    _topdir: top,
    tree,
    _buildhost: 'localhost',
    use_source_date_epoch_as_buildtime: '1',
    clamp_mtime_to_source_date_epoch: '1',
    _binary_payload: isFast ? 'w1.gzdio' : 'w6.xzdio',
    // Nothing of the tree is touched: a stripped executable would not start.
    __os_install_post: '%{nil}',
    debug_package: '%{nil}',
    _build_id_links: 'none',
  };
  const flags = Object.entries(defines).flatMap(([name, value]) => ['--define', `${name} ${value}`]);
  run('rpmbuild', ['-bb', '--target', ARCHITECTURES[arch], ...flags, spec], { env });
  const built = join(top, 'RPMS', ARCHITECTURES[arch]);
  const name = readdirSync(built).find((each) => each.endsWith('.rpm'));
  if (name === undefined) throw new Error(`rpmbuild left no package in ${built}`);
  const path = join(out, `tailrace-${version}-1.${ARCHITECTURES[arch]}.rpm`);
  copyFileSync(join(built, name), path);
  return path;
}

function specFile({ version, files }: PackageOptions): string {
  const listed = files.map(({ path, mode, isConfig }) => {
    const attributes = `%attr(${mode.toString(8)}, root, root)`;
    return `${isConfig ? '%config(noreplace) ' : path.startsWith('/usr/share/man/') ? '%doc ' : ''}${attributes} ${path}`;
  });
  return `Name: tailrace
Version: ${version}
Release: 1
Summary: Log-shipping agent that loses nothing
License: Apache-2.0
AutoReqProv: no
Requires: glibc >= 2.28, libstdc++, libatomic
Requires(pre): shadow-utils

%description
Tailrace ships log files, standard input and syslog to a dataset service over HTTP. Every byte range is checkpointed only once
the service has stored it, and the metrics prove it.

%install
cp -a %{tree}/. %{buildroot}/

%pre
getent passwd tailrace >/dev/null || useradd --system --user-group --home-dir /var/lib/tailrace --shell /sbin/nologin tailrace

%post
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
[ "$1" -gt 1 ] || systemctl preset tailrace.service >/dev/null 2>&1 || :

%preun
[ -d /run/systemd/system ] && [ "$1" -eq 0 ] || exit 0
systemctl disable --now --quiet tailrace-syslog.socket tailrace-journal.socket tailrace.service >/dev/null 2>&1 || :

%postun
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
[ "$1" -lt 1 ] || systemctl try-restart tailrace.service 'tailrace@*.service' || :

%files
${listed.join('\n')}
`;
}
