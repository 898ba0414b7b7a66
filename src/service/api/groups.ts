/** What the HTTP API is made of, a line for each group of endpoints. */
import { account } from './account.ts';
import { annotations } from './annotations.ts';
import { datasets } from './datasets.ts';
import { explorer } from './explorer.ts';
import { health } from './health.ts';
import { ingestEndpoints } from './ingest.ts';
import { mapFields } from './map-fields.ts';
import { missing } from './missing.ts';
import { query } from './query.ts';
import { starredQueries } from './starred-queries.ts';
import { tokenEndpoints } from './tokens.ts';
import { virtualFields } from './virtual-fields.ts';

export const ENDPOINT_GROUPS = [
  explorer,
  health,
  datasets,
  ingestEndpoints,
  query,
  account,
  tokenEndpoints,
  annotations,
  starredQueries,
  mapFields,
  virtualFields,
  missing,
] as const;
