/** The type `stdin`: its keys, and what commands ask of its source. */
import { type FieldTable, type FieldValues } from '../../config/fields/field.ts';
import { checkLineSource, parserFields } from '../common/check-lines.ts';
import { deriveLines, lineFields } from '../common/line-fields.ts';
import { type CommonSourceConfig, maxEventBytes } from '../common/source-fields.ts';
import type { SourceType } from '../common/source-type.ts';
import { windowBytesFor } from '../common/window-bytes.ts';

const fields = { ...lineFields, max_event_bytes: maxEventBytes } satisfies FieldTable;

const derive = (values: FieldValues<typeof fields>) => deriveLines(values);

type StdinConfig = CommonSourceConfig & ReturnType<typeof derive> & { readonly type: 'stdin' };

export const stdinType: SourceType<typeof fields, StdinConfig> = {
  exampleId: 'pipe',
  doc: 'reads standard input to its end; at most one',
  fields,
  derive,
  readsLines: true,
  isRereadable: false,
  onlyInput: 'standard input',
  checkKeys: checkLineSource,
  addedFields: parserFields,
  windowBytes: (config) => windowBytesFor(2, config),
  async create(config, context) {
    const [{ createStdinSource }, { pipeOfStdin }] = await Promise.all([
      import('./stdin.ts'),
      import('./stdin-input.ts'),
    ]);
    const { loadShaping } = await import('../framing/line-shaping.ts');
    return createStdinSource(config, context, { shaping: await loadShaping(config), pipe: pipeOfStdin() });
  },
  preview: async (config, tools) => (await import('./preview-lines.ts')).createLinePreview(config, tools),
};
