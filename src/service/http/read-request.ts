/** Request bodies and query parameters by their schemas. */
import { z } from 'zod';
import { badRequest, quote } from './api-error.ts';

/** Parses the body by the schema. Throws an `ApiError` 400 that names the wrong place or the unknown keys, and the wanted form. */
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

export type Querystring = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Parses the parameters by the schema. Throws an `ApiError` 400. */
export function readQuery<T>(schema: z.ZodType<T>, query: Querystring): T {
  const parsed = schema.safeParse(query);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const name = String(issue?.path[0]);
  const value = query[name] ?? '';
  if (typeof value !== 'string') throw badRequest(`the query parameter ${name} is given ${value.length} times`);
  throw badRequest(`${name} ${quote(value)}: ${issue?.message}`);
}

/** A query parameter; an absent one is empty. */
export const parameter = (description: string) => z.string().default('').describe(description);

export const flagParameter = (description: string) =>
  z
    .string()
    .default('')
    .refine((text) => /^(?:|0|false|1|true)$/i.test(text), 'wanted true or false')
    .transform((text) => /^(?:1|true)$/i.test(text))
    .describe(description);

type RequestSchema = z.core.JSONSchema.BaseSchema;

/** `a JSON object with name (string), role (owner, admin, user)` */
function inWords(schema: z.ZodType): string {
  const { properties, items } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  if (properties === undefined) return `an array of ${kindOf(items as RequestSchema)}s`;
  return `a JSON object with ${Object.entries(properties)
    .map(([key, value]) => `${key} (${kindOf(value as RequestSchema)})`)
    .join(', ')}`;
}

function kindOf(schema: RequestSchema): string {
  const { type, enum: values, const: value, description } = schema.anyOf?.[0] ?? schema;
  // A key that may be null has two types.
  const kind = values?.join(', ') ?? String(value ?? [type].flat()[0] ?? 'any value');
  return description === undefined ? kind : `${kind}, ${description}`;
}

/** Go clients send the year 1 for a time that is not set. */
export const isUnset = (time: string): boolean => /^000[01]-/.test(time);

/** A time that may be left out. */
export const optionalTime = z.iso
  .datetime({ offset: true })
  .nullish()
  .transform((text) => (text && !isUnset(text) ? text : undefined));
