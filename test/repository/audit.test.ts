import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTree } from '../support/temp-tree.ts';

const program = join(import.meta.dirname, '../../.ci/audit.mjs');
const weak = {
  vulnerabilities: {
    a: { name: 'a', severity: 'high', nodes: ['node_modules/b/node_modules/a'], via: [{ title: 'Reads too far' }] },
    b: { name: 'b', severity: 'high', nodes: ['node_modules/b'], via: ['a'] },
  },
};

/** What the program says where npm prints `answer` for the checkout, and that nothing is wrong for the runtime. */
function audit(answer: string) {
  const tree = makeTree({
    'bin/npm': `#!/bin/sh\ncase "$PWD" in */runtime) echo '{"vulnerabilities":{}}' ;; *) cat ../answer; exit 1 ;; esac\n`,
    answer: answer,
    'repo/.ci/audit.mjs': '',
    'repo/scripts/runtime/package.json': '{}',
  });
  chmodSync(join(tree, 'bin/npm'), 0o755);
  copyFileSync(program, join(tree, 'repo/.ci/audit.mjs'));
  const env = { ...process.env, PATH: `${join(tree, 'bin')}:${process.env['PATH']}` };
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(tree, 'repo/.ci/audit.mjs')], {
    encoding: 'utf8',
    env,
  });
  return { status, lines: (stdout + stderr).trimEnd().split('\n') };
}

test('audit passes where no package has a known weakness', () => {
  expect(audit('{"vulnerabilities":{}}')).toEqual({
    status: 0,
    lines: ['.: no known weakness', 'scripts/runtime: no known weakness'],
  });
});

test('audit fails on a known weakness, with the way to the package and the fix', () => {
  expect(audit(JSON.stringify(weak))).toEqual({
    status: 1,
    lines: [
      '.: a, high: Reads too far (node_modules/b/node_modules/a)',
      '.: b, high: through a (node_modules/b)',
      'scripts/runtime: no known weakness',
      'What to do: docs/dependencies.md, "Who looks when"',
    ],
  });
});

test.each([
  ['{"message":"405 Method Not Allowed","error":{}}', '405 Method Not Allowed'],
  ['', 'npm printed no JSON'],
])('audit claims nothing where the registry does not answer: %j', (answer, reason) => {
  const { status, lines } = audit(answer);
  expect(status).toBe(2);
  expect(lines).toContain(`.: the registry did not answer (${reason}): run it where one does`);
});
