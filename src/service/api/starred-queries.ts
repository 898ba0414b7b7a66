/** /v2/apl-starred-queries: queries by text that users keep under a name. */
import { z } from 'zod';
import { SERVICE_QUERY_TEXT } from '../../language/limits.ts';
import { SERVICE_NAME_LENGTH, SERVICE_SAVED } from '../limits.ts';
import type { Caller } from '../auth/auth.ts';
import { forbidden, notFound, quote } from '../http/api-error.ts';
import { parameter } from '../http/read-request.ts';
import type { Metadata } from '../metadata.ts';
import { openStore, type Saved } from '../saved/store.ts';
import { group, underBoth } from './endpoint.ts';

const text = z.string().max(SERVICE_NAME_LENGTH);
const QUERY = z.looseObject({ apl: z.string().min(1).max(SERVICE_QUERY_TEXT) });
const WANTED = z.strictObject({
  name: text.min(1),
  query: QUERY,
  kind: z.literal('apl').nullish(),
  dataset: z.string().max(128).nullish(),
  metadata: z.record(text, z.string().max(SERVICE_QUERY_TEXT)).nullish(),
  /** Clients send back what they read. */
  id: text.nullish(),
  who: text.nullish(),
});
const FIELDS = {
  name: z.string(),
  kind: z.literal('apl'),
  dataset: z.string().optional(),
  query: QUERY,
  metadata: z.record(z.string(), z.string()),
  who: z.string(),
};
const KEPT = z.object(FIELDS);
const STARRED = z.strictObject({ id: z.string(), ...FIELDS, query: QUERY.extend({ queryOptions: z.looseObject({}) }) });
type StarredRecord = z.infer<typeof KEPT>;
type Starred = z.infer<typeof STARRED>;
type Wanted = z.infer<typeof WANTED>;

/** Clients read `queryOptions` of every one: one without them hides all. */
const viewOf = (kept: Saved<StarredRecord>): Starred => {
  const { queryOptions } = kept.query;
  const isObject = typeof queryOptions === 'object' && queryOptions !== null && !Array.isArray(queryOptions);
  return { ...kept, query: { ...kept.query, queryOptions: isObject ? queryOptions : {} } } as Starred;
};

const count = (absent: number, description: string) =>
  z
    .string()
    .default('')
    .refine((text) => /^\d{0,6}$/.test(text), 'wanted a whole number')
    .transform((text) => (text === '' ? absent : Number(text)))
    .describe(description);
const LISTED = z.object({
  who: parameter('whose: absent for those of the caller, all, team (all but those), or the id of a user'),
  dataset: parameter('those about one dataset'),
  qs: parameter('those with this text in the name or the query'),
  limit: count(SERVICE_SAVED, 'how many at most'),
  offset: count(0, 'how many to leave out first'),
});
const PATH = '/v2/apl-starred-queries';
const QUERY_RIGHT = { kind: 'dataset', right: 'query' } as const;

export const starredQueries = group(
  'starred queries',
  { StarredQuery: STARRED },
  (add, { metadata }: { readonly metadata: Metadata }) => {
    const endpoint = underBoth(add);
    const store = openStore<StarredRecord>(metadata, {
      kind: 'starred',
      word: 'starred query',
      prefix: '',
      datasetsOf: ({ dataset }) => (dataset === undefined ? [] : [dataset]),
    });
    /** A user's own, and those of others about datasets that the user may query. An API token is no user: it sees none. */
    const sees = (caller: Caller, { who, dataset }: StarredRecord): boolean =>
      caller.kind === 'personal' &&
      (who === caller.user.id || dataset === undefined || caller.may(QUERY_RIGHT, dataset));
    /** A query may name only a dataset that its user may query. */
    const readAs = (caller: Caller, body: () => Wanted, who: string): StarredRecord => {
      if (caller.kind !== 'personal') throw forbidden('an API token is no user: star queries with a personal token');
      const { name, query, dataset, metadata: facts } = body();
      if (typeof dataset === 'string' && dataset !== '') caller.require(QUERY_RIGHT, dataset);
      return {
        name,
        kind: 'apl',
        query,
        metadata: facts ?? {},
        who,
        ...(typeof dataset === 'string' && dataset !== '' && { dataset }),
      };
    };
    const visible = (caller: Caller, id: string): Saved<StarredRecord> => {
      const found = store.get(id);
      if (!sees(caller, found)) throw notFound(`starred query ${quote(id)} not found`);
      return found;
    };
    const own = (caller: Caller, id: string): Saved<StarredRecord> => {
      const found = visible(caller, id);
      if (found.who !== caller.user.id && caller.user.role === 'user')
        throw forbidden('only who starred a query, an admin or an owner may change it');
      return found;
    };
    endpoint(
      `GET ${PATH}`,
      { summary: 'Starred queries', query: LISTED, reply: z.array(STARRED) },
      ({ query, caller }) => {
        const { who, dataset, qs, limit, offset } = query();
        const me = caller.user.id;
        const isWanted = (one: StarredRecord): boolean =>
          (who === 'all' || (who === 'team' ? one.who !== me : one.who === (who === '' ? me : who))) &&
          (dataset === '' || one.dataset === dataset) &&
          (one.name.includes(qs) || one.query.apl.includes(qs));
        return store.list((one) => sees(caller, one) && isWanted(one), limit, offset).map(viewOf);
      },
    );
    endpoint(`POST ${PATH}`, { summary: 'Stars a query', body: WANTED, reply: STARRED }, ({ caller, body }) =>
      viewOf(store.create(readAs(caller, body, caller.user.id))),
    );
    endpoint(`GET ${PATH}/:id`, { summary: 'A starred query', reply: STARRED }, ({ params, caller }) =>
      viewOf(visible(caller, params.id)),
    );
    endpoint(
      `PUT ${PATH}/:id`,
      { summary: 'Changes a starred query', body: WANTED, reply: STARRED },
      ({ params, caller, body }) => viewOf(store.update(params.id, readAs(caller, body, own(caller, params.id).who))),
    );
    endpoint(`DELETE ${PATH}/:id`, { summary: 'Removes a starred query' }, ({ params, caller }) =>
      store.remove(own(caller, params.id).id),
    );
  },
);
