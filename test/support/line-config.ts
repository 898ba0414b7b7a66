/** The configuration of plain lines, for tests of sources. */
import type { LineConfig } from '../../src/config/model.ts';

export const plainLineConfig = {
  format: 'auto',
  fields: {},
  maxEventBytes: 1024 * 1024,
  onOversize: 'truncate',
  multiline: undefined,
  charset: 'utf-8',
  csv: { delimiter: ',', columns: undefined },
  regex: undefined,
  dataset: undefined,
} satisfies Omit<LineConfig, 'id'>;
