/**
 * Bodies of JSON, but of ingest. What they take of the memory, as text and as values, is shared fairly until their requests are answered: queries wait
 * for their turn with their bodies at hand.
 */
import type { FastifyRequest } from 'fastify';
import { FairBudget, type Held } from './fair-budget.ts';
import { queryHolder } from './holder.ts';
import type { LeastRate } from './least-rate.ts';
import { SERVICE_JSON_BYTES, SERVICE_JSON_DEPTH, SERVICE_JSON_VALUE_BYTES } from '../limits.ts';
import { ApiError, badRequest } from '../http/api-error.ts';
import { readBytes } from './body.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What its body takes; given back with the reply. */
    bodyHeld: Held | undefined;
  }
}

/** `total`: bytes of all bodies in flight. */
export function jsonBodies(total: number, least: LeastRate) {
  const budget = new FairBudget(total);
  /** Throws an `ApiError`: 413, 408, 429, or 400 for one that is nested too deep. */
  return async (request: FastifyRequest): Promise<string> => {
    const held = budget.tryTake(queryHolder(request), 0);
    request.bodyHeld = held;
    const grow = (bytes: number): void => {
      if (held?.resize(bytes) !== true)
        throw new ApiError(429, 'bodies under way take all memory for them: try again', { 'Retry-After': '1' });
    };
    const bytes = await readBytes(request.raw, { most: SERVICE_JSON_BYTES, tooLarge, least, grow });
    const text = bytes.toString('utf8');
    const { depth, values } = shapeOf(text);
    if (depth > SERVICE_JSON_DEPTH) throw badRequest(`the body is nested deeper than ${SERVICE_JSON_DEPTH}`);
    grow(bytes.length + values * SERVICE_JSON_VALUE_BYTES);
    return text;
  };
}

const tooLarge = (): ApiError =>
  new ApiError(413, `the body is larger than ${SERVICE_JSON_BYTES} bytes: send less in one request`);

/** How many arrays and objects JSON has inside each other (functions that walk it need a stack), and about how many values. */
function shapeOf(text: string): { readonly depth: number; readonly values: number } {
  let [depth, deepest, values] = [0, 0, 1];
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      for (at++; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++;
    } else if (char === '[' || char === '{') {
      values++;
      deepest = Math.max(deepest, ++depth);
    } else if (char === ']' || char === '}') depth--;
    else if (char === ',') values++;
  }
  return { depth: deepest, values };
}
