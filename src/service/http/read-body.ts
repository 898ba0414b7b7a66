/** Request bodies by their schema. */
import type { z } from 'zod';
import { badRequest } from './api-error.ts';

/** The body as the schema gives it. Throws an `ApiError` 400 that names the place; `wanted` says what the body is to be. */
export function readBody<T>(schema: z.ZodType<T>, body: unknown, wanted: string): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw badRequest(`${issue?.path.join('.') || 'the body'}: ${issue?.message}; wanted a JSON object with ${wanted}`);
}
