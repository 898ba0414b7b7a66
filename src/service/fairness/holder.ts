/** Who shares an amount: a token and what it does, so that pages, agents and programs of one token do not starve each other. */
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../auth/auth.ts';

export const ingestHolder = ({ caller: { token } }: FastifyRequest): string => `${token} ingest`;

/** Browsers name themselves so, for 30 years. A request to an address that there is not has no caller. */
export const queryHolder = ({ caller, headers }: FastifyRequest): string =>
  `${(caller as Caller | null)?.token ?? 'nobody'} ${headers['user-agent']?.startsWith('Mozilla/') ? 'page' : 'program'}`;
