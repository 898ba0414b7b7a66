/**
 * Parts of the API family that this service lacks: a 404 that says so. Clients retry a 501, and lose its message. Two addresses of hosted services that
 * programs ask first have an answer, without which those do nothing.
 */
import { z } from 'zod';
import { HERE } from '../datasets/schemas.ts';
import { notFound } from '../http/api-error.ts';
import { group } from './endpoint.ts';

const MISSING = ['monitors', 'notifiers', 'dashboards'];

export const missing = group('clients', {}, (endpoint, _parts: object, server) => {
  const boards = {
    summary: 'Dashboards that come with integrations: none',
    reply: z.array(z.object({ id: z.string(), owner: z.string() })),
  };
  endpoint('GET /api/internal/integrations/dashboards', boards, () => []);
  const deployment = z.object({ id: z.string(), domain: z.string() });
  const deployments = {
    summary: 'Where datasets are kept: here',
    reply: z.object({ axiom: z.array(deployment), byoc: z.array(deployment) }),
  };
  endpoint('GET /api/internal/edge-deployments/axiom', deployments, ({ request: { headers, protocol, host } }) => ({
    // Behind a proxy with TLS a client must not send its token in clear.
    axiom: [{ id: HERE, domain: `${headers['x-forwarded-proto'] === 'https' ? 'https' : protocol}://${host}` }],
    byoc: [],
  }));
  for (const version of ['v1', 'v2'])
    for (const name of MISSING)
      for (const path of [`/${version}/${name}`, `/${version}/${name}/*`])
        server.all(path, () => {
          throw notFound(
            `this service has no ${name}: query it from a program of yours, or use a hosted service for them`,
          );
        });
});
