// `npm run audit`: asks the registry for known weaknesses of the packages in both lock files, and names each with the way to it.
// Exits 0 where there is none, 1 where there is one, 2 where the registry did not answer. Plain JavaScript, because it runs on Node 20.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
let status = 0;

for (const folder of ['.', 'scripts/runtime']) {
  const { stdout } = spawnSync('npm', ['audit', '--json', '--package-lock-only'], {
    cwd: join(root, folder),
    encoding: 'utf8',
  });
  const answer = read(stdout);
  if (answer?.vulnerabilities === undefined) {
    console.error(
      `${folder}: the registry did not answer (${answer?.message ?? 'npm printed no JSON'}): run it where one does`,
    );
    status ||= 2;
    continue;
  }
  const found = Object.values(answer.vulnerabilities);
  for (const { name, severity, nodes, via } of found) {
    console.log(
      `${folder}: ${name}, ${severity}: ${via.map((each) => each.title ?? `through ${each}`).join('; ')} (${nodes.join(', ')})`,
    );
  }
  if (found.length > 0) status = 1;
  else console.log(`${folder}: no known weakness`);
}

if (status === 1) console.log('What to do: docs/dependencies.md, "Who looks when"');
process.exitCode = status;

function read(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
