/** The field tables of the sources. */
import { field } from '../fields/field.ts';
import type { Table } from '../fields/field.ts';
import { patternOrList } from '../fields/kinds-formats.ts';
import { messageCharset } from '../fields/kinds-lines.ts';
import { anyText, choice, duration, durationOr, flag, flagOr, list, size } from '../fields/kinds.ts';
import { datasetName, staticFields } from '../fields/kinds-special.ts';
import { transform } from '../fields/kinds-transform.ts';
import { lineFields, onOversize } from './schema-lines.ts';
import { syslogOwn } from './schema-syslog.ts';

const maxEventBytes = field(size('1KiB', '10MiB'), {
  default: '1MiB',
  doc: 'a longer line or message is cut there and marked; the service takes 1 MiB a string',
});
const fields = field(staticFields, {
  default: '{}',
  example: '{service: app}',
  doc: 'added to every event of this source; wins over the same field of the agent',
});
const shaping = field(transform, {
  example: '{script: ./shape.ts}',
  doc: 'shapes the events of this source: docs/transform.md',
});
const dataset = field(datasetName, { example: 'app-logs', doc: "overrides the sink's dataset" });
const charsetOfMessages = field(messageCharset, {
  default: 'utf-8',
  doc: 'how a message that is no UTF-8 is encoded; what is invalid becomes U+FFFD',
});

export const fileTable = {
  type: field(choice(['file']), { required: true, example: 'file', doc: 'follows files' }),
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
  transform: shaping,
  fields,
  dataset,
} satisfies Table;

export const stdinTable = {
  type: field(choice(['stdin']), { required: true, example: 'stdin', doc: 'reads standard input to its end; at most one' }),
  ...lineFields,
  max_event_bytes: maxEventBytes,
  transform: shaping,
  fields,
  dataset,
} satisfies Table;

export const syslogTable = {
  type: field(choice(['syslog']), { required: true, example: 'syslog', doc: 'listens for syslog messages, RFC 5424 and RFC 3164' }),
  ...syslogOwn,
  max_event_bytes: maxEventBytes,
  on_oversize: onOversize,
  charset: charsetOfMessages,
  transform: shaping,
  fields,
  dataset,
} satisfies Table;
