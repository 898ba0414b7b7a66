/** Parts of the API family that this service lacks: after authentication, a 501 with an explanation instead of a 404. */
import { ApiError } from '../http/api-error.ts';
import { group } from './endpoint.ts';

const MISSING = ['monitors', 'notifiers', 'dashboards'];

export const missing = group('', {}, (_endpoint, _parts: object, server) => {
  for (const version of ['v1', 'v2'])
    for (const name of MISSING)
      for (const path of [`/${version}/${name}`, `/${version}/${name}/*`])
        server.all(path, () => {
          throw new ApiError(501, `this service has no ${name}: query it from a program of yours, or use a hosted service for them`);
        });
});
