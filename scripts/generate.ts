/**
 * Writes what comes from the configuration's field tables: config.example.yaml, the tables in docs/configuration.md and
 * docs/config.schema.json; the tables in docs/query.md and the examples in docs/query-examples.md from those of the query compiler; each
 * room's list of functions, and that of operators; the presets from presets/; and the engine's packages from the lock file. With `--check`
 * nothing is written: exits 1 and names the stale files.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderEnginePackages } from './engine-packages.ts';
import { PRESET_ROWS, renderPresetRows, replacePresets } from './presets.ts';
import { replaceHeaderForms } from './syslog-headers.ts';
import { replaceTimeForms } from './time-forms.ts';
import { topicLists } from './topic-lists.ts';

const root = join(import.meta.dirname, '..');
const isCheck = process.argv.includes('--check');

// The tables of functions, operators and presets are read through these lists, so they come first.
const lists = [...topicLists(root), [PRESET_ROWS, () => renderPresetRows(root)] as const];
if (!isCheck)
  for (const [path, render] of lists) if (render() !== read(path)) writeFileSync(join(root, path), render());
const { renderExample } = await import('./describe/example.ts');
const { renderJsonSchema } = await import('./describe/json-schema.ts');
const { replaceTables } = await import('./describe/table.ts');
const { replaceReference } = await import('./query-reference.ts');
const { replaceExamples } = await import('./query-examples.ts');
const { renderApiTypes } = await import('./api-types.ts');

const generated: readonly (readonly [path: string, render: (current: string) => string])[] = [
  ['config.example.yaml', renderExample],
  ['docs/config.schema.json', renderJsonSchema],
  ['docs/configuration.md', replaceTables],
  ['docs/formats.md', (page) => replacePresets(replaceTimeForms(page), root)],
  ['docs/syslog.md', replaceHeaderForms],
  ['docs/query.md', replaceReference],
  ['docs/query-examples.md', replaceExamples],
  ...lists,
  ['src/client/api-types.ts', renderApiTypes],
  ['src/service/engine/packages.ts', () => renderEnginePackages(read('package-lock.json'))],
];

function read(path: string): string {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch {
    return '';
  }
}

const stale = generated.filter(([path, render]) => render(read(path)) !== read(path)).map(([path]) => path);
if (isCheck) {
  if (stale.length > 0) {
    process.stderr.write(
      `out of step with the tables they come from: ${stale.join(', ')}; run: scripts/node scripts/generate.ts\n`,
    );
    process.exitCode = 1;
  }
} else {
  for (const [path, render] of generated) if (stale.includes(path)) writeFileSync(join(root, path), render(read(path)));
  console.log(stale.length > 0 ? `written: ${stale.join(', ')}` : 'all in step');
}
