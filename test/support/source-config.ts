/** The configuration of plain lines, of a file source that reads them, and of a journald source, for tests of sources. */
import type { FileConfig } from '../../src/sources/file/file-type.ts';
import type { JournaldConfig } from '../../src/sources/journald/journald-type.ts';
import type { LineConfig } from '../../src/sources/common/line-fields.ts';

export const plainLineConfig = {
  format: 'auto',
  fields: {},
  hostName: 'web-1',
  maxEventBytes: 1024 * 1024,
  onOversize: 'truncate',
  multiline: undefined,
  group: undefined,
  charset: 'utf-8',
  csv: { delimiter: ',', columns: undefined },
  regex: undefined,
  time: { kind: 'read' },
  formats: [],
  isShaped: false,
  types: {},
  parseJson: false,
  pathFields: [],
  dataset: undefined,
} satisfies Omit<LineConfig, 'id'>;

export function fileSourceConfig(include: string, changes: Partial<FileConfig> = {}): FileConfig {
  return {
    ...plainLineConfig,
    type: 'file',
    id: 'app',
    include: [include],
    exclude: [],
    followLinks: 'safe',
    startAt: 'beginning',
    readCompressed: false,
    scanIntervalMs: 1000,
    maxScanIntervalMs: changes.scanIntervalMs ?? 1000,
    ignoreOlderMs: Infinity,
    order: 'fair',
    partialTimeoutMs: 5000,
    maxDeletedBytes: 1024 ** 3,
    stableInodes: true,
    ...changes,
  };
}

export function journaldSourceConfig(
  directory: string | undefined,
  changes: Partial<JournaldConfig> = {},
): JournaldConfig {
  return {
    type: 'journald',
    id: 'journal',
    units: [],
    identifiers: [],
    priority: 'debug',
    namespaces: [],
    since: 'all',
    directory,
    parseJson: false,
    allFields: false,
    maxEventBytes: 1024 * 1024,
    fields: {},
    hostName: 'web-1',
    dataset: undefined,
    ...changes,
  };
}
