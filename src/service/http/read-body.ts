/** Request bodies by their schema. */
import { z } from 'zod';
import { badRequest, quote } from './api-error.ts';

/** Parses the body by the schema. Throws an `ApiError` 400 that names the wrong place or the unknown keys, and what is wanted. */
export function readBody<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue?.code === 'unrecognized_keys') {
    const names = issue.keys.slice(0, 10).map((key) => quote([...issue.path, key].join('.')));
    throw badRequest(`unknown ${names.length > 1 ? 'keys' : 'key'} ${names.join(', ')}; wanted ${inWords(schema)}`);
  }
  throw badRequest(`${issue?.path.join('.') || 'the body'}: ${issue?.message}; wanted ${inWords(schema)}`);
}

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** `a JSON object with name (string), role (owner, admin, user)` */
function inWords(schema: z.ZodType): string {
  const { properties, items } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  if (properties === undefined) return `an array of ${kindOf(items as JsonSchema)}s`;
  return `a JSON object with ${Object.entries(properties).map(([key, value]) => `${key} (${kindOf(value as JsonSchema)})`).join(', ')}`; // prettier-ignore
}

function kindOf(schema: JsonSchema): string {
  const { type, enum: values, const: value, description } = schema.anyOf?.[0] ?? schema;
  const kind = values?.join(', ') ?? String(value ?? type ?? 'any value');
  return description === undefined ? kind : `${kind}, ${description}`;
}

/** A time that may be left out. Go clients send the year 1 for one that is not set. */
export const optionalTime = z.iso
  .datetime({ offset: true })
  .nullish()
  .transform((text) => (text && !/^000[01]-/.test(text) ? text : undefined));
