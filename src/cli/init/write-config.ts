/** Writes the configuration of planned sources as commented YAML, with the reason beside each choice. Pure. */
import type { Proposal } from '../../sources/common/source-type.ts';
import { version } from '../../core/version.ts';
import type { PlannedSource } from './plan.ts';

export interface Destination {
  readonly url: string;
  readonly dataset: string;
  readonly tokenFile?: string | undefined;
  /** Where it is not beside the configuration. */
  readonly dataDir?: string | undefined;
}

const COMMENT_COLUMN = 44;
const HUGE_BYTES = 1024 ** 3;

export function configText(sources: readonly PlannedSource[], to: Destination, proposed: readonly Proposal[] = []): string {
  return [
    `# Written by \`tailrace init\` ${version}, from the first lines of the files. \`tailrace check\` says whether it would run,`,
    '# `tailrace preview --source ID FILE` shows what becomes of lines. All keys: docs/configuration.md.',
    ...(to.dataDir === undefined ? [] : ['', `data_dir: ${quoted(to.dataDir)}`]),
    '',
    '# On every event: JSON lines keep their bytes, and would not say which host and file they are from.',
    'origin: [host, file]',
    '',
    'sources:',
    ...sources.flatMap(sourceLines),
    ...proposed.flatMap(({ entry }) => entry),
    '',
    'sinks:',
    '  store:',
    '    type: ingest',
    withComment(`    url: ${quoted(to.url)}`, "your service's address"),
    to.tokenFile === undefined
      ? withComment('    token: ${TAILRACE_TOKEN}', 'a variable of the environment; or token_file: FILE')
      : withComment(`    token_file: ${quoted(to.tokenFile)}`, 'read again when it changes'),
    withComment(`    dataset: ${quoted(to.dataset)}`, '`dataset` of a source overrides it'),
    withComment('    create_dataset: true', 'where the service has none of that name'),
    '',
  ].join('\n');
}

function sourceLines({ id, include, exclude, files, recognised, secrets, bytes, oldFiles, why }: PlannedSource): string[] {
  const transform = secrets.transform();
  const { choices, remarks } = recognised;
  return [
    `  ${id}:`,
    ...remarks.map((remark) => `    # ${printed(remark)}`),
    '    type: file',
    withComment('    include:', `${files.length === 1 ? 'a file' : `${files.length} files`}, ${printed(why)}`),
    ...include.map((glob) => `      - ${quoted(glob)}`),
    ...(include.some((glob) => glob === '/var/log/syslog' || glob === '/var/log/messages')
      ? ['    # Has the entries of the journal, which is left out: with `type: journald` beside it each would come twice.']
      : []),
    ...(exclude.length === 0 ? [] : [withComment('    exclude:', 'files of another kind')]),
    ...exclude.map((path) => `      - ${quoted(path)}`),
    ...choices.map(({ entry, reason }) => withComment(`    ${entry}`, printed(reason))),
    ...(oldFiles === 0
      ? []
      : [withComment('    ignore_older: 7d', `${oldFiles} of the files were not changed for a week: left out until they are`)]),
    ...(bytes < HUGE_BYTES
      ? []
      : [withComment('    # start_at: end', `would leave out the ${Math.round(bytes / HUGE_BYTES)} GiB that are there already`)]),
    ...(transform
      ? [
          '    # Hides what looks like a secret in the lines that were read; correct it where it is not one.',
          ...transform.reasons.map((reason) => `    # - ${printed(reason)}`),
          '    transform: |',
          ...transform.pipeline.split('\n').map((line) => `      ${line}`),
        ]
      : []),
  ];
}

function withComment(text: string, comment: string): string {
  return `${text.padEnd(COMMENT_COLUMN - 1)} # ${comment}`;
}

/** As a YAML text in which no variable is replaced. */
function quoted(text: string): string {
  const literal = text.replaceAll('$', () => '$$');
  return /^[A-Za-z0-9/][A-Za-z0-9/._-]*$/.test(literal) && !/^\d|^(?:true|false|null|yes|no|on|off)$/i.test(literal)
    ? literal
    : JSON.stringify(literal);
}

/** A comment is one line. */
function printed(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');
}
