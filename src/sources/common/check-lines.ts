/** The rules between the keys that say how lines become events. */
import type { FieldDrafts } from '../../config/fields/field.ts';
import type { PathReport } from '../../config/fields/path-report.ts';
import { formatSize } from '../../config/fields/units.ts';
import { checkZone } from '../../config/fields/check-zone.ts';
import type { lineFields } from './line-fields.ts';
import type { maxEventBytes } from './source-fields.ts';
import type { LocatedDraft } from './source-type.ts';

type LineTable = typeof lineFields & { readonly max_event_bytes: typeof maxEventBytes };
type LineDraft = LocatedDraft<LineTable>;

/** Checks the rules between the keys of a source of lines, and names keys without effect. */
export function checkLineSource(source: LineDraft, at: PathReport): void {
  checkLines(source, at);
  const { path, draft } = source;
  for (const key of ['csv', 'regex'] as const) {
    if (
      !at.has(`${path}.${key}`) ||
      draft.format === undefined ||
      draft.format === key ||
      (key === 'csv' && draft.format === 'w3c')
    )
      continue;
    at.warnAtKey(
      `${path}.${key}`,
      `\`${key}\` has no effect with \`format: ${draft.format}\``,
      `write \`format: ${key}\``,
    );
  }
  if (typeof draft.time === 'object') checkZone(`${path}.time.format`, draft.time.format, at);
}

/** Formats that the kernel makes events of. */
const PLAIN_FORMATS: ReadonlySet<string> = new Set(['auto', 'text', 'json']);

/** What events of a parser get beside their own fields. */
export function parserFields({ format = 'auto', formats, parse_json }: FieldDrafts<LineTable>): readonly string[] {
  return formats !== undefined || parse_json === true || !PLAIN_FORMATS.has(format) ? ['host', 'file'] : [];
}

/** No value of an event has a name. */
function isPlain({
  format,
  formats,
  parse_json,
}: {
  format?: string;
  formats?: unknown;
  parse_json?: boolean;
}): boolean {
  return formats === undefined && parse_json !== true && format === 'text';
}

/** Formats whose events are several lines, or whose lines mean something by their place. */
const UNGROUPED: ReadonlySet<string | undefined> = new Set(['csv', 'w3c', 'cri', 'docker']);

function checkGroup({ path, draft }: LineDraft, at: PathReport): void {
  if (!at.has(`${path}.group`)) return;
  const refuse = (other: string): void =>
    at.atKey(`${path}.group`, `\`group\` cannot be used with ${other}`, 'remove one of them');
  if (at.has(`${path}.multiline`)) refuse('`multiline`');
  if (UNGROUPED.has(draft.format)) refuse(`\`format: ${draft.format}\``);
}

/** Keys that belong to one format, and the pattern of joined lines. */
export function checkLines({ path, draft }: LineDraft, at: PathReport): void {
  const { format, multiline } = draft;
  if (at.has(`${path}.formats`)) {
    if (at.has(`${path}.format`))
      at.atKey(`${path}.formats`, '`format` and `formats` are both given', 'keep one of them');
  } else if (format === 'regex' && !at.has(`${path}.regex`))
    at.atValue(
      `${path}.format`,
      '`format: regex` is given without `regex`',
      "add `regex: '^(?<level>\\w+) (?<message>.*)$'`, or another one",
    );
  else if (draft.regex !== undefined && !/\(\?P?<[A-Za-z_]/.test(draft.regex))
    at.atValue(
      `${path}.regex`,
      '`regex` has no named group, so that events would have no fields',
      'name its groups: `(?<level>\\w+)`',
    );
  if (draft.types !== undefined && Object.keys(draft.types).length > 0 && isPlain(draft))
    at.atKey(
      `${path}.types`,
      `\`types\` has no effect with \`format: ${format}\``,
      'name a format whose values have names, such as `json`, `regex` or `logfmt`',
    );
  checkGroup({ path, draft }, at);
  if (!at.has(`${path}.multiline`) || multiline === undefined) return;
  const [hasStart, hasContinue] = [at.has(`${path}.multiline.start`), at.has(`${path}.multiline.continue`)];
  if (hasStart === hasContinue) {
    const message = hasStart
      ? '`start` and `continue` are both given'
      : '`multiline` has neither `start` nor `continue`';
    at.atKey(
      `${path}.multiline${hasStart ? '.continue' : ''}`,
      message,
      hasStart ? 'keep one of them' : "add `start: '^\\d{4}-'`, or another pattern",
    );
  }
  if (hasContinue && at.has(`${path}.multiline.before`))
    at.atKey(`${path}.multiline.before`, '`before` has no effect with `continue`', 'use `start`');
  if (format === 'csv')
    at.atKey(
      `${path}.multiline`,
      '`multiline` cannot be used with `format: csv`',
      'remove it: a record in quotes may have several lines anyway',
    );
  const [bytes, limit] = [multiline.max_bytes, draft.max_event_bytes];
  if (bytes !== undefined && limit !== undefined && bytes > limit)
    at.atValue(
      `${path}.multiline.max_bytes`,
      `\`max_bytes\` (${formatSize(bytes)}) is more than \`max_event_bytes\` (${formatSize(limit)})`,
      'lower it, or raise `max_event_bytes`',
    );
}
