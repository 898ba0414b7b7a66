// Sets up what a command needs, and nothing when it is there already: packages from the lock file, a Node that
// fits where the machine's own is older than 24. Plain JavaScript without dependencies, because it runs first, on Node 20.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const runtime = join(root, 'scripts', 'runtime');
const pinned = join(runtime, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node');

if (process.argv[2] === 'runtime') setUpRuntime();
else {
  setUpPackages();
  setUpBundle();
}

/**
 * Installs the lock file's packages when they differ from what is installed; npm then runs `prepare`, which brings the runtime.
 * Not `npm ci`: it refuses where the registry lacks the optional packages of some other platform.
 */
function setUpPackages() {
  const wanted = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  const stamp = join(root, 'node_modules', '.set-up');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return setUpRuntime();
  process.stderr.write('Setting up: installing packages (about a minute, once)\n');
  npm(root, 'install', '--no-save');
  setUpRuntime();
  writeFileSync(stamp, wanted);
}

/** Brings the pinned Node where the one running this is too old, and checks that it starts. */
function setUpRuntime() {
  if (Number(process.versions.node.split('.')[0]) >= 24) return;
  if (!existsSync(pinned)) {
    process.stderr.write(`Setting up: this machine has Node ${process.versions.node}, bringing the pinned Node 26\n`);
    npm(runtime, 'install', '--no-save');
  }
  const probe = spawnSync(pinned, ['--version'], { encoding: 'utf8' });
  if (probe.status === 0) return;
  const hint = probe.stderr.includes('libatomic')
    ? 'install libatomic1, for example: apt-get install -y libatomic1'
    : 'install Node 24 or newer';
  fail(`the pinned Node does not start (${String(probe.stderr || probe.error).trim()}); ${hint}`);
}

/** Brings the bundle up to date, with which `bin/tailrace` starts faster. Without it, it starts from the sources. */
function setUpBundle() {
  const script = join(root, 'scripts', 'build.ts');
  if (!existsSync(script)) return;
  const built = spawnSync(join(root, 'scripts', 'node'), [script, '--if-stale'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 2],
  });
  if (built.status !== 0)
    process.stderr.write(
      'Setting up: the bundle could not be built (its message is above); bin/tailrace runs the sources instead\n',
    );
}

function npm(folder, ...args) {
  const result = spawnSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
  });
  if (result.status !== 0) fail(`npm ${args.join(' ')} failed in ${folder}; its message is above`);
}

function fail(message) {
  process.stderr.write(`Set-up failed: ${message}\n`);
  process.exit(1);
}
