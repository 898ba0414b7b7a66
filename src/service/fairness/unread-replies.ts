/** Unread replies stay in memory: large ones, of queries or not, share a budget until they are read. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../http/api-error.ts';
import { SERVICE_SMALL_REPLY } from '../limits.ts';
import type { FairBudget } from './fair-budget.ts';
import { queryHolder } from './holder.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Its reply has its part of the budget. */
    hasReplyRoom: boolean;
  }
}

export const tooMuchUnread = (): ApiError =>
  new ApiError(429, 'replies under way take all memory for them: read them, or ask for less, and try again', {
    'Retry-After': '5',
  });

/** Takes room for the reply to a GET; false where none is left. A request that changed something is always answered. */
export function takeReplyRoom(
  budget: FairBudget,
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): boolean {
  // Files of pages are bytes that all replies share.
  if (
    request.method !== 'GET' ||
    request.hasReplyRoom ||
    typeof payload !== 'string' ||
    payload.length <= SERVICE_SMALL_REPLY
  )
    return true;
  const room = budget.tryTake(queryHolder(request), payload.length);
  if (!room) return false;
  request.hasReplyRoom = true;
  reply.raw.once('close', room.release);
  return true;
}
