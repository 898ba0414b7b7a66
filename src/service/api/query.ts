/** POST /v1/query/_apl and /v1/datasets/_apl, queries by text; POST /v1/datasets/{id}/query, the legacy form; /v1/queries, those that run. */
import { z } from 'zod';
import { SERVICE_QUERY_ID_CHARS } from '../limits.ts';
import { APL_BODY, QUERY_PARAMETERS } from '../query/apl-request.ts';
import { LEGACY_BODY } from '../query/legacy/schema.ts';
import { DELETE_BODY, DELETED, openDeletes, type DeleteParts } from '../query/delete-events.ts';
import { openQueries, type QueryParts } from '../query/queries.ts';
import { APL_REPLY, LEGACY_REPLY, LISTED_QUERY, QUERY_TYPES } from '../query/replies.ts';
import { group, underBoth } from './endpoint.ts';

const need = { kind: 'dataset', right: 'query' } as const;

/** One who may query nothing has no query that runs. */
const anything = { kind: 'any-dataset', right: 'query' } as const;
const headers = {
  '*Query-Id': `names the query, until it has ended: 1 to ${SERVICE_QUERY_ID_CHARS} of A-Z, a-z, 0-9, _ and -`,
};

export const query = group('query', QUERY_TYPES, (endpoint, parts: QueryParts & DeleteParts) => {
  const { running } = parts;
  const { apl, legacy } = openQueries(parts);
  for (const path of ['/v1/query/_apl', '/v1/datasets/_apl', '/v2/query/_apl', '/v2/datasets/_apl'] as const)
    endpoint(
      `POST ${path}`,
      {
        summary: 'Runs a query by text',
        query: QUERY_PARAMETERS,
        headers,
        body: APL_BODY.prefault({}),
        reply: APL_REPLY,
      },
      apl,
    );
  const structured = {
    summary: 'Runs a structured query',
    need,
    query: QUERY_PARAMETERS,
    headers,
    body: LEGACY_BODY.prefault({}),
    reply: LEGACY_REPLY,
  };
  endpoint('POST /v1/datasets/:dataset/query', structured, (asked) => legacy(asked.params.dataset, asked));
  const deletes = {
    summary: 'Counts the events that a query matches and, with commit, deletes them',
    headers,
    body: DELETE_BODY.prefault({}),
    reply: DELETED,
  };
  underBoth(endpoint)('POST /v2/datasets/_apl/delete', deletes, openDeletes(parts));
  const listed = { summary: "The token's queries that wait or run", need: anything, reply: z.array(LISTED_QUERY) };
  endpoint('GET /v1/queries', listed, ({ caller }) => running.list(caller));
  const ended = { summary: 'Ends a query; answers once it has ended', need: anything };
  endpoint('DELETE /v1/queries/:id', ended, ({ caller, params }) => running.end(caller, params.id));
});
