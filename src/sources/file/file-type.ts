/** The type `file`: its keys, and what commands ask of its sources. */
import { isAbsolute, resolve } from 'node:path';
import type { Context } from '../../config/fields/context.ts';
import { type FieldDrafts, field, type FieldTable, type FieldValues } from '../../config/fields/field.ts';
import { patternOrList } from '../../config/fields/kinds-formats.ts';
import { anyText, choice, duration, durationOr, flag, flagOr, list, size } from '../../config/fields/kinds.ts';
import { MAX_SCAN_INTERVAL_MS } from '../../config/limits.ts';
import { checkLineSource, parserFields } from '../common/check-lines.ts';
import { deriveLines, lineFields } from '../common/line-fields.ts';
import { type CommonSourceConfig, maxEventBytes } from '../common/source-fields.ts';
import type { SourceType } from '../common/source-type.ts';
import { windowBytesFor } from '../common/window-bytes.ts';

const DEFAULT_SCAN_INTERVAL_MS = 1000;

const fields = {
  include: field(list(anyText, { filled: true, example: '["/var/log/app/*.log"]' }), {
    required: true,
    example: '["/var/log/app/*.log"]',
    doc: "globs, ** allowed; relative ones start at this file's folder",
  }),
  exclude: field(list(anyText, { filled: false, example: '["*.gz"]' }), {
    default: '[]',
    example: '["*.gz"]',
    doc: 'globs of files to leave out; one without a slash is compared with the name alone',
  }),
  follow_links: field(flagOr('safe'), {
    default: 'safe',
    doc: 'symbolic links that a wildcard matches; safe: those that root, the user of the agent or the owner of the target made; links before the first wildcard are always followed',
  }),
  start_at: field(choice(['beginning', 'end']), {
    default: 'beginning',
    doc: 'where files first seen at start-up without a checkpoint begin; files that appear later are read whole',
  }),
  ...lineFields,
  path_fields: field(patternOrList, {
    default: '[]',
    example: "'/var/log/(?<team>[^/]+)/'",
    doc: 'its named groups, matched against the path, are fields of every event',
  }),
  max_event_bytes: maxEventBytes,
  ignore_older: field(durationOr('never', '1s', '3650d'), {
    default: 'never',
    example: '7d',
    doc: 'leaves out files that were not changed for so long, until they are; a file that is known is read on',
  }),
  scan_interval: field(duration('100ms', '1h'), {
    computed: '1s, and up to 30s while watches tell of every change',
    example: '1s',
    doc: 'the longest time between two scans of all files; changes that the system reports are read at once',
  }),
  order: field(choice(['fair', 'oldest_first']), {
    default: 'fair',
    doc: 'which file is read next: each in its turn, or the one that was changed longest ago',
  }),
  partial_timeout: field(durationOr('never', '100ms', '1d'), {
    default: '5s',
    doc: 'an unfinished last line is sent when the file has not grown for so long; what comes later is an event of its own',
  }),
  max_deleted_bytes: field(size('0', '100000GiB'), {
    default: '1GiB',
    doc: 'unread bytes of deleted files that are held open while the disk buffer is full; over it the oldest file is given up, and counted',
  }),
  stable_inodes: field(flag, {
    default: 'true',
    doc: 'false where a file can have another inode from one scan to the next (overlay and some network file systems): path and content identify it then',
  }),
  read_compressed: field(flag, {
    default: 'false',
    doc: 'reads matching .gz and .zst files, and skips what was read before they were compressed; false leaves them out',
  }),
} satisfies FieldTable;

export type FileConfig = CommonSourceConfig & ReturnType<typeof derive> & { readonly type: 'file' };

function derive({ scanIntervalMs, ...values }: FieldValues<typeof fields>, { folder }: Context) {
  return {
    ...deriveLines(values),
    pathFields: values.pathFields,
    include: values.include.map((glob) => absoluteGlob(glob, folder)),
    // Without a slash a pattern is about the name alone.
    exclude: values.exclude.map((glob) => (glob.includes('/') ? absoluteGlob(glob, folder) : glob)),
    /** Between full scans where changes are not watched for. */
    scanIntervalMs: scanIntervalMs ?? DEFAULT_SCAN_INTERVAL_MS,
    /** The most between full scans where they are: `scanIntervalMs` where that was written. */
    maxScanIntervalMs: scanIntervalMs ?? MAX_SCAN_INTERVAL_MS,
  };
}

/** The folder is a name, not a pattern: what looks like a wildcard in it is escaped. */
function absoluteGlob(glob: string, folder: string): string {
  return isAbsolute(glob) ? glob : resolve(folder.replaceAll(/[\\*?[\]{}()!]/g, String.raw`\$&`), glob);
}

export const fileType: SourceType<typeof fields, FileConfig> = {
  exampleId: 'app',
  doc: 'follows files',
  fields,
  derive,
  readsLines: true,
  trial: 'type: file, include: [/dev/stdin]',
  isRereadable: true,
  checkKeys: checkLineSource,
  addedFields: (draft) => [...pathFieldNames(draft), ...parserFields(draft)],
  // Deleted files are read beside the others, and so are compressed ones.
  windowBytes: (config) => windowBytesFor(config.readCompressed ? 3 : 2, config),
  async create(config, context) {
    const [{ createFileSource }, { loadShaping }] = await Promise.all([
      import('./source.ts'),
      import('../framing/line-shaping.ts'),
    ]);
    return createFileSource(config, context, { shaping: await loadShaping(config) });
  },
  check: async (config, { privateFiles }) => (await import('./check-globs.ts')).checkGlobs(config, privateFiles),
  sharedInput: async (one, other) => (await import('./shared-path.ts')).findSharedPath(one, other),
  async preview(config, tools) {
    const { createLinePreview } = await import('../stdin/preview-lines.ts');
    return createLinePreview(config, tools, (path) => ({ file: resolve(path) }));
  },
  files: {
    async matches({ include }, path) {
      const { compileInclude } = await import('./scan/glob.ts');
      return include.some((pattern) => compileInclude(pattern).matches(path));
    },
    find: async (config, privateFiles) => (await import('./scan/find-files.ts')).findFiles(config, privateFiles),
    leavesOut: async ({ readCompressed }, path) =>
      !readCompressed && (await import('./scan/rotated-names.ts')).isCompressedName(path),
    explain: async (config, path, known) => (await import('./explain-alone.ts')).explainAlone(config, path, known),
  },
};

function pathFieldNames({ path_fields: patterns = [] }: FieldDrafts<typeof fields>): string[] {
  return [...patterns.join(' ').matchAll(/\(\?P?<([A-Za-z_]\w*)>/g)].map(([, name = '']) => name);
}
