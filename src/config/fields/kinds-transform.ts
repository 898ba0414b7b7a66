/** The value of `transform`: a pipeline as text, or a mapping that names a script. */
import { MAX_TRANSFORM_CHARACTERS } from '../limits.ts';
import type { YamlNode } from '../yaml/document.ts';
import { field, type FieldKey, type FieldKind, readTable, type FieldReading, type FieldTable } from './field.ts';
import { anyText, choice } from './kinds.ts';
import type { TransformConfig } from '../values.ts';

const EXAMPLE = 'write a pipeline, such as `where level != "debug"`, or `{script: ./shape.ts}`';

/** Text taken literally: `${}` means nothing in it. */
const pipelineText: FieldKind<string> = {
  type: 'pipeline',
  schema: { type: 'string' },
  read: readPipeline,
};

const onError = choice(['keep', 'dead_letter', 'drop']);

const transformTable = {
  pipeline: field(pipelineText, { doc: 'the pipeline, where it is written with `on_error`' }),
  script: field(anyText, { doc: 'a TypeScript file' }),
  on_error: field(onError, { doc: 'of an event that it fails on' }),
} satisfies FieldTable;

/** As it is written: the path of a script is relative to the file's folder. */
export const transform: FieldKind<TransformConfig> = {
  type: 'pipeline, or `{script: FILE, on_error: keep}`',
  schema: {
    anyOf: [
      { type: 'string' },
      {
        type: 'object',
        additionalProperties: false,
        properties: {
          pipeline: { type: 'string' },
          script: { type: 'string' },
          on_error: { enum: ['keep', 'dead_letter', 'drop'] },
        },
      },
    ],
  },
  read: (node, key, reading) => {
    if (node.kind !== 'map') {
      const text = readPipeline(node, key, reading);
      return text === undefined ? undefined : { kind: 'pipeline', text, path: key.path, onError: undefined };
    }
    const { pipeline, script, on_error: chosen } = readTable(transformTable, node, key.path, reading);
    const names = node.entries.map((entry) => entry.key);
    if (names.includes('pipeline') === names.includes('script')) {
      const message = names.includes('script')
        ? '`pipeline` and `script` are both given'
        : '`transform` has neither `pipeline` nor `script`';
      reading.report(node.at, message, names.includes('script') ? 'keep one of them' : EXAMPLE);
      return undefined;
    }
    if (pipeline !== undefined)
      return { kind: 'pipeline', text: pipeline, path: `${key.path}.pipeline`, onError: chosen };
    return script === undefined
      ? undefined
      : { kind: 'script', file: script, path: `${key.path}.script`, onError: chosen };
  },
};

function readPipeline(node: YamlNode, key: FieldKey, reading: FieldReading): string | undefined {
  if (node.kind !== 'scalar' || typeof node.value !== 'string' || node.value.trim() === '') {
    reading.report(node.at, `\`${key.name}\` is no pipeline`, EXAMPLE);
    return undefined;
  }
  if (node.value.length > MAX_TRANSFORM_CHARACTERS) {
    reading.report(
      node.at,
      `\`${key.name}\` has ${node.value.length} characters, ${MAX_TRANSFORM_CHARACTERS} are possible`,
      'use a script: `{script: ./shape.ts}`',
    );
    return undefined;
  }
  reading.noteText?.(key.path, node);
  return node.value;
}
