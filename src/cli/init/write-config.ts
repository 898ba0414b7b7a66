/** Writes the configuration of planned sources as commented YAML, with the reason beside each choice. Pure. */
import { commented, yamlText } from '../../config/yaml/entry-text.ts';
import { version } from '../../core/version.ts';
import type { ServiceAddress } from '../../sinks/common/sink-type.ts';
import { SINK_TYPES } from '../../sinks/registry.ts';
import type { Proposal, SourceType } from '../../sources/common/source-type.ts';
import { FILES_TYPE, SOURCE_TYPES } from '../../sources/registry.ts';
import type { PlannedSource } from './plan.ts';

export interface Destination extends ServiceAddress {
  /** Where it is not beside the configuration. */
  readonly dataDir?: string | undefined;
}

const HUGE_BYTES = 1024 ** 3;

export function configText(
  sources: readonly PlannedSource[],
  to: Destination,
  proposed: readonly Proposal[] = [],
): string {
  return [
    `# Written by \`tailrace init\` ${version}, from the first lines of the files. \`tailrace check\` says whether it would run,`,
    '# `tailrace preview --source ID FILE` shows what becomes of lines. All keys: docs/configuration.md.',
    ...(to.dataDir === undefined ? [] : ['', `data_dir: ${yamlText(to.dataDir)}`]),
    '',
    '# On every event: JSON lines keep their bytes, and would not say which host and file they are from.',
    'origin: [host, file]',
    '',
    'sources:',
    ...sources.flatMap(sourceLines),
    ...proposed.flatMap(({ entry }) => entry),
    '',
    'sinks:',
    ...Object.values(SINK_TYPES).flatMap((type) => type.propose?.(to) ?? []),
    '',
  ].join('\n');
}

function sourceLines({
  id,
  include,
  exclude,
  files,
  recognised,
  secrets,
  bytes,
  oldFiles,
  why,
}: PlannedSource): string[] {
  const transform = secrets.transform();
  const { choices, remarks } = recognised;
  return [
    `  ${id}:`,
    ...remarks.map((remark) => `    # ${printed(remark)}`),
    `    type: ${FILES_TYPE}`,
    commented('    include:', `${files.length === 1 ? 'a file' : `${files.length} files`}, ${printed(why)}`),
    ...include.map((glob) => `      - ${yamlText(glob)}`),
    ...Object.values(SOURCE_TYPES).flatMap(
      (type: SourceType) => type.remark?.(include)?.map((line) => `    # ${line}`) ?? [],
    ),
    ...(exclude.length === 0 ? [] : [commented('    exclude:', 'files of another kind')]),
    ...exclude.map((path) => `      - ${yamlText(path)}`),
    ...choices.map(({ entry, reason }) => commented(`    ${entry}`, printed(reason))),
    ...(oldFiles === 0
      ? []
      : [
          commented(
            '    ignore_older: 7d',
            `${oldFiles} of the files were not changed for a week: left out until they are`,
          ),
        ]),
    ...(bytes < HUGE_BYTES
      ? []
      : [
          commented(
            '    # start_at: end',
            `would leave out the ${Math.round(bytes / HUGE_BYTES)} GiB that are there already`,
          ),
        ]),
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

/** A comment is one line. */
function printed(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');
}
