/** The type `journald`: its keys, and what commands ask of its sources. */
import type { Context } from '../../config/fields/context.ts';
import { field, type FieldKind, type FieldTable, type FieldValues } from '../../config/fields/field.ts';
import { MAX_FIELDS } from '../../core/limits.ts';
import { staticFields } from '../../config/fields/kinds-special.ts';
import { anyText, choice, flag, list, matching, text } from '../../config/fields/kinds.ts';
import type { PathReport } from '../../config/fields/path-report.ts';
import type { JsonValue } from '../../core/block.ts';
import { SEVERITIES } from '../../core/syslog-priority.ts';
import { type CommonSourceConfig, maxEventBytes } from '../common/source-fields.ts';
import type { LocatedDraft, SourceType } from '../common/source-type.ts';
import { JOURNAL_ENTRY_BYTES } from './limits.ts';
import { proposeJournal, remarkJournal } from './propose-journal.ts';
import { resolve } from 'node:path';
import { JOURNAL_KERNEL_BYTES } from '../../kernel/journal.ts';

/** A unit, an identifier or a namespace is handed to `journalctl` as it is. */
const unitName = matching(
  /^[A-Za-z0-9:_.\\@-]+$/,
  'is no name of a unit',
  'write it as `nginx.service`, without patterns',
);
const namespace = matching(
  /^(\*|\+?[A-Za-z0-9_.-]+)$/,
  'is no name of a namespace',
  'write its name, or `"*"` for all',
);

const since: FieldKind<'boot' | 'all' | number> = text<'boot' | 'all' | number>({
  type: '`boot`, `all`, or a time',
  parse: (value) => {
    if (value === 'boot' || value === 'all') return { value };
    const ms = /^\d{4}-\d\d-\d\d/.test(value) ? Date.parse(value) : Number.NaN;
    if (Number.isFinite(ms) && ms >= 0) return { value: ms };
    return { message: 'is no time', fix: 'write `boot`, `all`, or a time such as `2026-11-27T08:00:00Z`' };
  },
});

const whichFields = choice(['common', 'all']);
/** Which fields of an entry, or those that are added to every event. */
const journalFields: FieldKind<'common' | 'all' | Readonly<Record<string, JsonValue>>> = {
  type: `${whichFields.type}, or a mapping of at most ${MAX_FIELDS} names to any values`,
  schema: { anyOf: [whichFields.schema, staticFields.schema] },
  read: (node, key, reading) =>
    node.kind === 'map' ? staticFields.read(node, key, reading) : whichFields.read(node, key, reading),
};

const fields = {
  units: field(list(unitName, { filled: false, example: '[nginx.service]' }), {
    default: '[]',
    example: '[nginx.service, ssh.service]',
    doc: 'only entries of these units, and what systemd says of them; of all, without',
  }),
  identifiers: field(list(anyText, { filled: false, example: '[sshd]' }), {
    default: '[]',
    example: '[sshd, kernel]',
    doc: 'only entries of programs that name themselves so',
  }),
  priority: field(choice(SEVERITIES), { default: 'debug', doc: 'only entries that are at least so severe' }),
  namespaces: field(list(namespace, { filled: false, example: '[app]' }), {
    default: '[]',
    example: '[app]',
    doc: "the journals of these namespaces; `['*']` for all; without, the machine's own",
  }),
  since: field(since, {
    default: 'boot',
    example: 'all',
    doc: 'where the first start begins: with this boot, with the oldest entry, or at a time; later ones go on where the last one was',
  }),
  directory: field(anyText, {
    example: '/var/log/journal/remote',
    doc: "reads the journals in this folder, of several machines, too, in place of this machine's",
  }),
  parse_json: field(flag, {
    default: 'false',
    doc: 'the members of a message that is a JSON object become fields, which overwrite nothing',
  }),
  max_event_bytes: maxEventBytes,
  fields: field(journalFields, {
    default: 'common',
    example: 'all',
    doc: 'common: message, host, appname, procid, unit, severity and facility; all: the others, too, in lower case without a leading `_`; or fields that are added to every event',
  }),
} satisfies FieldTable;

export type JournaldConfig = CommonSourceConfig & ReturnType<typeof derive> & { readonly type: 'journald' };

function derive({ fields: which, directory, ...values }: FieldValues<typeof fields>, { folder }: Context) {
  return {
    ...values,
    directory: directory === undefined ? undefined : resolve(folder, directory),
    allFields: which === 'all',
  };
}

export const journaldType: SourceType<typeof fields, JournaldConfig> = {
  exampleId: 'journal',
  doc: "reads systemd's journal through `journalctl`",
  fields,
  derive,
  readsLines: false,
  isRereadable: true,
  checkKeys,
  windowBytes: ({ maxEventBytes: most }) => 2 * (most + JOURNAL_ENTRY_BYTES) + JOURNAL_KERNEL_BYTES,
  create: async (config, context, kernel) =>
    (await import('./source.ts')).createJournaldSource(config, context, kernel),
  propose: proposeJournal,
  remark: remarkJournal,
  check: async (config) => (await import('./check-journal.ts')).checkJournal(config),
};

function checkKeys({ path, draft }: LocatedDraft<typeof fields>, at: PathReport): void {
  if (draft.directory !== undefined && (draft.namespaces ?? []).length > 0)
    at.atKey(`${path}.namespaces`, '`namespaces` cannot be used with `directory`', 'remove one of them');
}
