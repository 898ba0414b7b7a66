/** POST /v1/query/_apl and /v1/datasets/_apl, queries by text; POST /v1/datasets/{id}/query, the legacy form. */
import { APL_BODY, QUERY_PARAMETERS } from '../query/apl-request.ts';
import { LEGACY_BODY } from '../query/legacy/schema.ts';
import { openQueries, type QueryParts } from '../query/queries.ts';
import { APL_REPLY, LEGACY_REPLY, QUERY_TYPES } from '../query/replies.ts';
import { group } from './endpoint.ts';

const need = { kind: 'dataset', right: 'query' } as const;

export const query = group('query', QUERY_TYPES, (endpoint, parts: QueryParts) => {
  const { apl, legacy } = openQueries(parts);
  for (const path of ['/v1/query/_apl', '/v1/datasets/_apl', '/v2/query/_apl', '/v2/datasets/_apl'] as const)
    endpoint(
      `POST ${path}`,
      { summary: 'Runs a query by text', query: QUERY_PARAMETERS, body: APL_BODY.prefault({}), reply: APL_REPLY },
      apl,
    );
  const structured = {
    summary: 'Runs a structured query',
    need,
    query: QUERY_PARAMETERS,
    body: LEGACY_BODY.prefault({}),
    reply: LEGACY_REPLY,
  };
  endpoint('POST /v1/datasets/:dataset/query', structured, (asked) => legacy(asked.params.dataset, asked));
});
