/** POST /v1/query/_apl and /v1/datasets/_apl, queries by text; POST /v1/datasets/{id}/query, the legacy form. */
import { APL_BODY } from '../query/apl-request.ts';
import { LEGACY_BODY } from '../query/legacy/schema.ts';
import { openQueries, type QueryParts } from '../query/queries.ts';
import { APL_REPLY, LEGACY_REPLY, QUERY_TYPES } from '../query/replies.ts';
import { group } from './endpoint.ts';

const PARAMETERS = {
  nocache: 'true: nothing that an earlier query left behind is used',
  saveAsKind: 'analytics, stream or apl: the reply names a history id in a header',
  'streaming-duration': 'a duration for which the request waits for events to be stored, at most 60s; auto does not wait',
};
const APL = {
  summary: 'Runs a query by text',
  body: APL_BODY,
  query: {
    format: 'tabular, or legacy, the default',
    ...PARAMETERS,
    cursor: 'as in the body',
    includeCursor: 'as in the body',
    includeCursorField: 'as in the body',
  },
  reply: APL_REPLY,
};
const LEGACY = {
  summary: 'Runs a structured query',
  need: { kind: 'dataset', right: 'query' },
  body: LEGACY_BODY,
  query: PARAMETERS,
  reply: LEGACY_REPLY,
} as const;

export const query = group('query', QUERY_TYPES, (endpoint, parts: QueryParts) => {
  const { apl, legacy } = openQueries(parts);
  for (const path of ['/v1/query/_apl', '/v1/datasets/_apl', '/v2/query/_apl', '/v2/datasets/_apl'] as const)
    endpoint(`POST ${path}`, APL, (request, _body, reply) => apl(request, reply));
  endpoint('POST /v1/datasets/:dataset/query', LEGACY, (request, _body, reply) => legacy(request, reply));
});
