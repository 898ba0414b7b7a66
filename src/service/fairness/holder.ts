/** Who shares an amount: a token and what it does, so that pages, agents and programs of one token do not starve each other. */
import type { FastifyRequest } from 'fastify';

export const ingestHolder = ({ caller: { token } }: FastifyRequest): string => `${token} ingest`;

/** Browsers name themselves so, for 30 years. */
export const queryHolder = ({ caller: { token }, headers }: FastifyRequest): string =>
  `${token} ${headers['user-agent']?.startsWith('Mozilla/') ? 'page' : 'program'}`;
