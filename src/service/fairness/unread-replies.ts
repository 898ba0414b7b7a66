/** Replies that nobody reads are kept in memory: those of queries and all other large ones share a budget until they are read. */
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
  new ApiError(429, 'replies under way take all memory for them: read them, or ask for less, and try again', { 'Retry-After': '5' });

/** Takes room for what a GET is answered with; a request that changed something is answered whatever there is. False where there is none. */
export function takeReplyRoom(budget: FairBudget, request: FastifyRequest, reply: FastifyReply, payload: unknown): boolean {
  // Files of pages are bytes that all replies share.
  if (request.method !== 'GET' || request.hasReplyRoom || typeof payload !== 'string' || payload.length <= SERVICE_SMALL_REPLY) return true;
  const room = budget.tryTake(queryHolder(request), payload.length);
  if (!room) return false;
  request.hasReplyRoom = true;
  reply.raw.once('close', room.release);
  return true;
}
