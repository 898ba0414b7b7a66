/** Request bodies by their schema. */
import { z } from 'zod';
import { badRequest, quote } from './api-error.ts';

/** Parses the body by the schema. Throws an `ApiError` 400 that names the wrong place or the unknown keys. `wanted`: the keys that it takes, in words. */
export function readBody<T>(schema: z.ZodType<T>, body: unknown, wanted: string): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue?.code === 'unrecognized_keys') {
    const names = issue.keys.slice(0, 10).map((key) => quote([...issue.path, key].join('.')));
    throw badRequest(`unknown ${names.length > 1 ? 'keys' : 'key'} ${names.join(', ')}; wanted a JSON object with ${wanted}`);
  }
  throw badRequest(`${issue?.path.join('.') || 'the body'}: ${issue?.message}; wanted a JSON object with ${wanted}`);
}

/** A time that may be left out. Go clients send the year 1 for one that is not set. */
export const optionalTime = z.iso
  .datetime({ offset: true })
  .nullish()
  .transform((text) => (text && !/^000[01]-/.test(text) ? text : undefined));
