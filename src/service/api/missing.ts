/** Parts of the API family that this service lacks: a 404 that says so. Clients retry a 501, and lose its message. */
import { notFound } from '../http/api-error.ts';
import { group } from './endpoint.ts';

const MISSING = ['monitors', 'notifiers', 'dashboards'];

export const missing = group('', {}, (_endpoint, _parts: object, server) => {
  for (const version of ['v1', 'v2'])
    for (const name of MISSING)
      for (const path of [`/${version}/${name}`, `/${version}/${name}/*`])
        server.all(path, () => {
          throw notFound(`this service has no ${name}: query it from a program of yours, or use a hosted service for them`);
        });
});
