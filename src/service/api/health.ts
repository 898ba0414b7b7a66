/** /healthz, /readyz and /metrics. The first two need no token; /metrics needs one except from this machine. */
import { z } from 'zod';
import { messageOf } from '../../core/errors.ts';
import type { Engine } from '../engine/engine.ts';
import { isLocal } from '../http/is-local.ts';
import type { Metrics } from '../http/metrics.ts';
import { group } from './endpoint.ts';

const STATUS = z.object({ status: z.string() });
/** Ask the engine at most this often, whatever the rate of probes. */
const KEPT_MS = 1000;

interface HealthParts {
  readonly engine: Engine;
  readonly metrics: Metrics;
}

export const health = group('operation', {}, (endpoint, { engine, metrics }: HealthParts) => {
  const problemOf = keep(KEPT_MS, () => engine.checkReady().then(() => undefined, messageOf));

  endpoint('GET /healthz', { public: true, summary: 'The process answers', reply: STATUS }, () => ({ status: 'ok' }));
  const ready = { public: true, summary: 'The engine answers; 503 while it does not', reply: STATUS };
  endpoint('GET /readyz', ready, async ({ request, reply }) => {
    const problem = await problemOf();
    if (problem === undefined) return { status: 'ready' };
    // Only the operator may see names of servers.
    return reply
      .code(503)
      .header('Retry-After', '5')
      .send({ code: 503, message: isLocal(request.raw) ? problem : 'the engine does not answer' });
  });
  const summary = 'Metrics in the text format of Prometheus; without a token from loopback only';
  const need = { kind: 'org', area: 'datasets', action: 'read' } as const;
  endpoint('GET /metrics', { publicHere: true, need, summary, replyText: true }, async ({ reply }) =>
    reply.type(metrics.contentType).send(await metrics.render()),
  );
});

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
