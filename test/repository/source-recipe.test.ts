/** The recipes of CONTRIBUTING.md for a source and for a key of one, followed in a copy of the tree. */
import { expect, test } from 'vitest';
import { checkLayers } from '../../scripts/check-layers.ts';
import { copyTree, read, run, types, write } from './tree-copy.ts';

const REGISTRY = 'src/sources/registry.ts';
const TYPE = 'src/sources/toy/toy-type.ts';
const TOY_SOURCE = {
  [TYPE]: `/** The type \`toy\`: texts of the configuration. */
import { field, type FieldTable, type FieldValues } from '../../config/fields/field.ts';
import { anyText, list } from '../../config/fields/kinds.ts';
import { type CommonSourceConfig, maxEventBytes } from '../common/source-fields.ts';
import type { SourceType } from '../common/source-type.ts';

const fields = {
  texts: field(list(anyText, { filled: true, example: '[one]' }), { required: true, example: '[one]', doc: 'what it says, each once' }),
  max_event_bytes: maxEventBytes,
} satisfies FieldTable;

const derive = (values: FieldValues<typeof fields>) => values;

export type ToyConfig = CommonSourceConfig & ReturnType<typeof derive> & { readonly type: 'toy' };

export const toyType: SourceType<typeof fields, ToyConfig> = {
  exampleId: 'toy',
  doc: 'says texts',
  fields,
  derive,
  readsLines: false,
  isRereadable: false,
  windowBytes: () => 64 * 1024,
  create: async (config, context) => (await import('./source.ts')).createToySource(config, context),
};
`,
  'src/sources/toy/source.ts': `/** Says each text once, then ends. */
import { newStats, type Source, type SourceContext } from '../../core/source.ts';
import type { ToyConfig } from './toy-type.ts';

export function createToySource(config: ToyConfig, { lane, streams, clock, reserve }: SourceContext): Source {
  const window = reserve(32 * 1024);
  const stats = newStats();
  return {
    id: config.id,
    stats,
    open: async () => {},
    async run() {
      const { id: stream } = streams.mint(config.id, '');
      const end = window.bytes.write(config.texts.map((text) => \`\${text}\\n\`).join(''));
      stats.readBytes += end;
      const shape = { format: 'text', wrapFields: {}, fields: config.fields } as const;
      await lane.accept({ stream, shape, window, start: 0, end, offset: 0, readAtMs: clock.now() });
    },
    stop: async () => {},
  };
}
`,
  'tsconfig.agent.json': JSON.stringify({
    extends: './tsconfig.json',
    include: [],
    files: ['src/cli/agent/run.ts', 'src/cli/check/check.ts'],
  }),
  'toy.yaml': `data_dir: data
telemetry: {listen: none}
sources: {talk: {type: toy, texts: [one, two], fields: {team: core}}}
sinks: {screen: {type: console}}
`,
};

const said = (copy: string): unknown[] =>
  run(copy, 'src/main.ts', 'run', '--once', '--config', 'toy.yaml')
    .split('\n')
    .filter((line) => line.startsWith('{') && line.includes('"message"') && !line.includes('"level"'))
    .map((line) => {
      const { message, team } = JSON.parse(line) as Record<string, unknown>;
      return [message, team];
    });

test('a source is one folder and its line, and a key of it one row', () => {
  const copy = copyTree(TOY_SOURCE);
  const registry = read(copy, REGISTRY).replace('  file: fileType,', '  file: fileType,\n  toy: toyType,');
  write(copy, REGISTRY, `import { toyType } from './toy/toy-type.ts';\n${registry}`);
  expect(run(copy, 'scripts/generate.ts')).toContain('written: ');
  expect(read(copy, 'config.example.yaml')).toContain('type: toy');
  expect(read(copy, 'docs/configuration.md')).toContain('what it says, each once');
  expect(types(copy, 'tsconfig.agent.json')).toBe('');
  expect(checkLayers(copy).filter((violation) => violation.includes('toy'))).toEqual([]);
  expect(said(copy)).toEqual([
    ['one', 'core'],
    ['two', 'core'],
  ]);
  expect(run(copy, 'src/main.ts', 'preview', '--config', 'toy.yaml')).toContain('as a source of the type toy');

  const row = "  longest_text: field(size('1', '1KiB'), { default: '3', doc: 'longer texts are left out' }),\n";
  write(
    copy,
    TYPE,
    read(copy, TYPE)
      .replace('  max_event_bytes', `${row}  max_event_bytes`)
      .replace('{ anyText, list }', '{ anyText, list, size }'),
  );
  const source = 'src/sources/toy/source.ts';
  write(
    copy,
    source,
    read(copy, source).replace(
      'config.texts.map',
      'config.texts.filter((text) => text.length <= config.longestTextBytes).map',
    ),
  );
  write(copy, 'toy.yaml', read(copy, 'toy.yaml').replace('[one, two]', '[one, three]'));
  expect(run(copy, 'scripts/generate.ts')).toContain('docs/configuration.md');
  expect(read(copy, 'docs/configuration.md')).toContain('longer texts are left out');
  expect(types(copy, 'tsconfig.agent.json')).toBe('');
  expect(said(copy)).toEqual([['one', 'core']]);
  write(copy, 'toy.yaml', read(copy, 'toy.yaml').replace('texts:', 'longest_text: 2KiB, texts:'));
  expect(run(copy, 'src/main.ts', 'check', '--config', 'toy.yaml')).toContain(
    '`longest_text`: `2KiB` is larger than 1KiB',
  );
});
