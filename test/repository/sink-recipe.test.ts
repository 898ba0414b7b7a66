/** The recipe of CONTRIBUTING.md for a sink, followed in a copy of the tree. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkLayers } from '../../scripts/check-layers.ts';
import { copyTree, read, run, types, write } from './tree-copy.ts';

const REGISTRY = 'src/sinks/registry.ts';
const TOY_SINK = {
  'src/sinks/toy/toy-type.ts': `/** The \`toy\` sink: its keys, and what they come to. */
import { resolve } from 'node:path';
import { batchOf, bufferField, sinkFields } from '../../config/common/sink-fields.ts';
import type { Context } from '../../config/fields/context.ts';
import { field, type FieldTable, type FieldValues } from '../../config/fields/field.ts';
import { anyText, choice } from '../../config/fields/kinds.ts';
import { commonSinkFields, type SinkType, sinkType } from '../common/sink-type.ts';
import { createToySink } from './sink.ts';

const fields = {
  type: field(choice(['toy']), { required: true, example: 'toy', doc: 'appends events to a file' }),
  inputs: commonSinkFields.inputs,
  path: field(anyText, { required: true, example: 'toy.ndjson', doc: 'where toys go' }),
  transform: commonSinkFields.transform,
  retry: sinkFields.retry,
  buffer: bufferField('what holds events until the file has them'),
} satisfies FieldTable;

export const toySink: SinkType = sinkType({
  fields,
  exampleId: 'box',
  derive: ({ path, retry, buffer }: FieldValues<typeof fields>, { folder }: Context) => ({
    path: resolve(folder, path),
    dataset: 'toys',
    compression: 'none',
    batch: batchOf({}, buffer),
    concurrency: 1,
    retry,
    buffer,
  }),
  create: createToySink,
  facts: { toy_bytes_total: ['Bytes that were appended', 'appended'] },
  checkKeys: ({ path: written }, path, at) => {
    if (written === '/dev/full') at.atValue(\`\${path}.path\`, '\`/dev/full\` takes nothing', 'name a file');
  },
});
`,
  'src/sinks/toy/sink.ts': `/** Appends each batch to a file. */
import { appendFile } from 'node:fs/promises';
import type { SinkConfig } from '../../config/model.ts';
import { messageOf } from '../../core/errors.ts';
import type { Sink } from '../../core/sink.ts';
import type { Clock } from '../../core/time/clock.ts';

export function createToySink({ id, path }: Pick<SinkConfig, 'id'> & { readonly path: string }, clock: Clock): Sink {
  return {
    id,
    async send({ body, events }, signal) {
      signal.throwIfAborted();
      const startedAt = clock.monotonic();
      const elapsedMs = (): number => clock.monotonic() - startedAt;
      try {
        await appendFile(path, body);
      } catch (error) {
        const outcome = { kind: 'pause', reason: 'unwritable', detail: messageOf(error), fix: 'make the folder' } as const;
        return { outcome, elapsedMs: elapsedMs(), unsent: 'unconnected' };
      }
      const facts = { toy_bytes_total: body.length };
      return { outcome: { kind: 'delivered', stored: events, facts }, elapsedMs: elapsedMs() };
    },
    close: () => Promise.resolve(),
  };
}
`,
  'tsconfig.agent.json': JSON.stringify({
    extends: './tsconfig.json',
    include: [],
    files: ['src/cli/agent/run.ts', 'src/cli/check/check.ts'],
  }),
  'app.log': 'one\ntwo\n',
  'toy.yaml': `data_dir: data
telemetry: {listen: none}
sources: {app: {type: file, include: [app.log]}}
sinks: {box: {type: toy, path: toys.ndjson}}
`,
};

test('a sink is one folder and its line', () => {
  const copy = copyTree(TOY_SINK);
  const registry = read(copy, REGISTRY).replace('  archive: archiveSink,', '  archive: archiveSink,\n  toy: toySink,');
  write(copy, REGISTRY, `import { toySink } from './toy/toy-type.ts';\n${registry}`);
  expect(run(copy, 'scripts/generate.ts')).toContain('written: ');
  expect(read(copy, 'config.example.yaml')).toContain('type: toy');
  expect(read(copy, 'docs/configuration.md')).toContain('where toys go');
  expect(types(copy, 'tsconfig.agent.json')).toBe('');
  expect(checkLayers(copy).filter((violation) => violation.includes('toy'))).toEqual([]);
  run(copy, 'src/main.ts', 'run', '--once', '--config', 'toy.yaml');
  const messages = read(copy, 'toys.ndjson')
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { message: string }).message);
  expect(messages).toEqual(['one', 'two']);
  write(copy, 'toy.yaml', read(copy, 'toy.yaml').replace('toys.ndjson', '/dev/full'));
  expect(run(copy, 'src/main.ts', 'check', '--config', join(copy, 'toy.yaml'))).toContain('takes nothing');
});
