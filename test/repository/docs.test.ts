import { expect, test } from 'vitest';
import { checkDocs } from '../../scripts/check-docs.ts';
import { makeTree } from '../support/temp-tree.ts';

const sound = {
  'README.md':
    '# Tail\n\n[map](docs/README.md#the-map), see `src/cli/program.ts` and `src/cli/*.ts`.\n\n```\n[not a link](gone.md)\n```\n',
  'docs/README.md': '# Docs\n\n## The map\n\n[home](../README.md#tail) [web](https://example.com/x) [here](#docs)\n',
  'src/cli/program.ts': "program.command('run').option('-c, --config <file>', 'x').option('--once', 'x');\n",
  'src/telemetry/metrics.ts': "add('counter', 'lost_bytes_total', 'x');\n",
};

function violationsWith(files: Record<string, string>): string[] {
  return checkDocs(makeTree({ ...sound, ...files }));
}

test('docs of a sound tree have no violation', () => {
  expect(violationsWith({})).toEqual([]);
});

// The forbidden words are put together here, so that this file does not hold them itself.
test('docs check takes commands, options and metrics that are there', () => {
  const page =
    '# Tail\n[map](docs/README.md)\n```sh\napp | bin/tailrace run --config x --once 2>&1 | less --x\njournalctl -u tailrace -f\n```\n`lost_bytes_total`, tailrace_lost\n';
  expect(violationsWith({ 'README.md': page })).toEqual([]);
});

test.each([
  [
    'a command that is not there',
    { 'README.md': '[map](docs/README.md) `tailrace rum`\n' },
    'README.md:1: names the command tailrace rum',
  ],
  [
    'an option that is not there',
    { 'README.md': '[map](docs/README.md)\n```sh\ntailrace run \\\n  --onec\n```\n' },
    'README.md:3: names the option --onec of tailrace run',
  ],
  [
    'a metric that is not there',
    { 'README.md': '[map](docs/README.md) `lots_bytes_total`\n' },
    'names the metric lots_bytes_total',
  ],
  [
    'a metric by its whole name',
    { 'README.md': '[map](docs/README.md) tailrace_bytes\n' },
    'names the metric tailrace_bytes',
  ],
  [
    'a link to nothing',
    { 'README.md': 'One\n[map](docs/README.md) [gone](docs/gone.md)\n' },
    'README.md:2: links to docs/gone.md, which is not there',
  ],
  ['an anchor to nothing', { 'README.md': '[map](docs/README.md#a-lost-map)\n' }, 'docs/README.md has no such heading'],
  [
    'an anchor to nothing on the page itself',
    { 'README.md': '[map](docs/README.md) [here](#nowhere)\n' },
    'README.md has no such heading',
  ],
  [
    'a path that is not there',
    { 'README.md': '[map](docs/README.md) `src/gone.ts`\n' },
    'README.md:1: names src/gone.ts',
  ],
  ['a pattern that matches nothing', { 'README.md': '[map](docs/README.md) `test/*.ts`\n' }, 'names test/*.ts'],
  ['a page that nobody links to', { 'docs/orphan.md': '# Orphan\n' }, 'docs/orphan.md: no other page links to it'],
  [
    'a path of one machine',
    { 'src/main.ts': `export const home = '${['', 'root', 'x'].join('/')}';\n` },
    'src/main.ts:1: names a path of one machine',
  ],
  [
    'a home folder',
    { 'src/main.ts': `\nexport const home = '${['', 'home', 'ann'].join('/')}';\n` },
    'src/main.ts:2: names a path of one machine',
  ],
  [
    'a page that a comment names and that is not there',
    { 'src/main.ts': '// See docs/gone.md.\n' },
    'src/main.ts:1: names docs/gone.md',
  ],
  [
    'a decision that a comment names and that is not there',
    { 'src/main.ts': '// See docs/adr/0042.\n' },
    'names docs/adr/0042',
  ],
  ['unfinished work', { 'src/main.ts': ['// TO', 'DO: more\n'].join('') }, 'src/main.ts:1: '],
])('docs check names %s', (_name, files: Record<string, string>, wanted) => {
  expect(violationsWith(files).join('\n')).toContain(wanted);
});
