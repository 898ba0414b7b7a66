/** /healthz, /readyz and /metrics. The first two need no token; /metrics needs one except from this machine. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { messageOf } from '../../core/errors.ts';
import type { Engine } from '../engine/engine.ts';
import { isLocal } from '../http/is-local.ts';
import type { Metrics } from '../http/metrics.ts';

const STATUS = z.object({ status: z.string() });
/** Ask the engine at most this often, whatever the rate of probes. */
const KEPT_MS = 1000;

export function healthRoutes(server: FastifyInstance, engine: Engine, metrics: Metrics): void {
  const problemOf = keep(KEPT_MS, () => engine.checkReady().then(() => undefined, messageOf)); // prettier-ignore

  server.get('/healthz', { config: { public: true, doc: { summary: 'The process answers', tag: 'operation', reply: STATUS } } }, () => ({
    status: 'ok',
  }));
  const ready = { summary: 'The engine answers; 503 while it does not', tag: 'operation', reply: STATUS };
  server.get('/readyz', { config: { public: true, doc: ready } }, async (request, reply) => {
    const problem = await problemOf();
    if (problem === undefined) return { status: 'ready' };
    // Only the operator may see names of servers.
    return reply
      .code(503)
      .header('Retry-After', '5')
      .send({ code: 503, message: isLocal(request.raw) ? problem : 'the engine does not answer' });
  });
  const numbers = {
    summary: 'Metrics in the text format of Prometheus; without a token from loopback only',
    tag: 'operation',
    replyText: true,
  };
  server.get(
    '/metrics',
    { config: { publicHere: true, need: { kind: 'org', area: 'datasets', action: 'read' }, doc: numbers } },
    async (_request, reply) => reply.type(metrics.contentType).send(await metrics.render()),
  );
}

/** Caches the answer of `ask` for this time; concurrent callers share one request. */
function keep<T>(ms: number, ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  let until = 0;
  return () => {
    if (answer !== undefined && performance.now() < until) return answer;
    const asked = ask();
    answer = asked;
    until = Number.POSITIVE_INFINITY;
    void asked.finally(() => (until = performance.now() + ms));
    return asked;
  };
}
