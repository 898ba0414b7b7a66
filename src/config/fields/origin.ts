/** `origin`: what events say of where they are from, in fields that they do not have themselves. */
import { type FieldDrafts, field, group, type FieldKind, type FieldTable } from './field.ts';
import { choice, list, matching } from './kinds.ts';

const name = matching(/^.{1,200}$/, 'cannot be a field', 'use up to 200 characters');
const names = {
  host: field(name, { example: 'host.name', doc: 'the field that holds `host_name`' }),
  file: field(name, {
    example: 'log.file.path',
    doc: 'the field that holds the path under which the file was first matched',
  }),
} satisfies FieldTable;
/** The name of each part that events get. */
export type OriginNames = FieldDrafts<typeof names>;

const [mapping, parts] = [group(names), list(choice(['host', 'file']), { filled: false, example: '[host, file]' })];
export const originKind: FieldKind<OriginNames> = {
  type: 'list of `host` and `file`, or a mapping of these to names of fields',
  schema: { anyOf: [parts.schema, { type: 'object' }] },
  inner: names,
  read(node, key, reading) {
    if (node.kind === 'map') return mapping.read(node, key, reading);
    const read = parts.read(node, key, reading);
    return read && Object.fromEntries(read.map((part) => [part, part]));
  },
};

/** Where an event is from; `file` is absent where it is of none. */
export interface EventPlace {
  readonly host?: string;
  readonly file?: string;
}

export function originFields({ host, file }: OriginNames = {}, place: EventPlace): Record<string, string> {
  return {
    ...(host === undefined || place.host === undefined ? {} : { [host]: place.host }),
    ...(file === undefined || place.file === undefined ? {} : { [file]: place.file }),
  };
}
