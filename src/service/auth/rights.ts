/**
 * What a caller may do, as pure data: the capabilities of API tokens, as clients of this API family write them, and the rights and
 * permission names of the roles. Of the capabilities only those listed here mean something to this service; others are kept and returned.
 */
import { z } from 'zod';

/** The roles of users; what each may do grows from the last to the first. */
export const ROLES = ['owner', 'admin', 'user'] as const;
export type Role = (typeof ROLES)[number];

/** What a token may be allowed on a dataset, and the one action that each has. */
const DATASET_ACTIONS = { ingest: 'create', query: 'read', trim: 'update' } as const;
export type DatasetRight = keyof typeof DATASET_ACTIONS;

export type Action = 'create' | 'read' | 'update' | 'delete';
export type OrgArea = 'datasets' | 'apiTokens' | 'users' | 'annotations';

/** What an endpoint asks of its caller. */
export type Need =
  | { readonly kind: 'dataset'; readonly right: DatasetRight }
  /** Any right on the dataset, or reading all of them. */
  | { readonly kind: 'dataset-view' }
  /** Changing what is kept beside a dataset's events: that right on it, or changing datasets. */
  | { readonly kind: 'dataset-part'; readonly area: 'virtualFields'; readonly action: Action }
  | { readonly kind: 'org'; readonly area: OrgArea; readonly action: Action };

const ACTIONS = z.array(z.enum(['create', 'read', 'update', 'delete'])).max(4);
const AREAS = z.record(z.string().max(64), ACTIONS.nullable());

export const DATASET_CAPABILITIES = z.record(z.string().max(128), AREAS);
export const ORG_CAPABILITIES = AREAS;
export const VIEW_CAPABILITIES = z.record(z.string().max(128), AREAS);

/** By area, the actions allowed; null counts as none. */
export type Areas = Readonly<Record<string, readonly Action[] | null>>;

export interface Capabilities {
  /** By dataset name; `*` is every dataset. */
  readonly datasets: Readonly<Record<string, Areas>>;
  readonly org: Areas;
  /** By view name. There are no views here: they are kept and returned. */
  readonly views: Readonly<Record<string, Areas>>;
}

const EVERY: readonly Action[] = ['create', 'read', 'update', 'delete'];

/** Of the token that a first start makes: all that API tokens may do with datasets, but not to make more tokens. */
export const FIRST_TOKEN: Capabilities = {
  datasets: { '*': { ingest: ['create'], query: ['read'], trim: ['update'] } },
  org: { datasets: EVERY },
  views: {},
};

/** Of personal tokens, by the role of their user. Ingest is not among them: it takes API tokens only. */
export const ROLE_CAPABILITIES: Readonly<Record<Role, Capabilities>> = {
  owner: { datasets: { '*': { query: ['read'], trim: ['update'] } }, org: { datasets: EVERY, apiTokens: EVERY, users: EVERY }, views: {} },
  admin: { datasets: { '*': { query: ['read'], trim: ['update'] } }, org: { datasets: EVERY, apiTokens: EVERY, users: EVERY }, views: {} },
  user: { datasets: { '*': { query: ['read'] } }, org: { datasets: ['read'], users: ['read'] }, views: {} },
};

/** Of a personal token. With `ingest`, which is off by default, those of owners and admins may ingest, too. */
export function capabilitiesOf(role: Role, ingest: boolean): Capabilities {
  const own = ROLE_CAPABILITIES[role];
  if (!ingest || role === 'user') return own;
  return { ...own, datasets: { '*': { ...own.datasets['*'], ingest: ['create'] } } };
}

const ADMIN_PERMISSIONS = [
  'CanIngest', 'CanQuery', 'CanUpdate', 'ChangeAccess', 'ChangeApiKeys', 'ChangeAuthentication', 'ChangeDashboards', 'ChangeIntegrations',
  'ChangeMonitorsAndNotifiers', 'ChangeSavedQueries', 'ChangeVirtualFields', 'ManageAPITokens', 'ManageDatasets', 'ManageEndpoints',
  'ManageSharedAccessKeys',
] as const; // prettier-ignore

/** The permission names of a role, as the user list shows them. */
export const PERMISSIONS: Readonly<Record<Role, readonly string[]>> = {
  owner: [...ADMIN_PERMISSIONS, 'ManageBilling'],
  admin: ADMIN_PERMISSIONS,
  user: ['CanQuery'],
};

export const mayOrg = ({ org }: Capabilities, area: OrgArea, action: Action): boolean => org[area]?.includes(action) ?? false;

export function mayDataset({ datasets }: Capabilities, right: DatasetRight, dataset: string): boolean {
  return grantsOn(datasets, dataset).some((areas) => areas[right]?.includes(DATASET_ACTIONS[right]));
}

export const mayPart = (capabilities: Capabilities, area: string, action: Action, dataset: string): boolean =>
  mayOrg(capabilities, 'datasets', 'update') || grantsOn(capabilities.datasets, dataset).some((areas) => areas[area]?.includes(action));

/** May know that the dataset exists, and what it is. */
export function maySee(capabilities: Capabilities, dataset: string): boolean {
  if (mayOrg(capabilities, 'datasets', 'read')) return true;
  return Object.keys(DATASET_ACTIONS).some((right) => mayDataset(capabilities, right as DatasetRight, dataset));
}

/** The first capability of `wanted` that `own` does not have; undefined when it has all. */
export function firstBeyond(own: Capabilities, wanted: Capabilities): string | undefined {
  const has = (areas: Areas, area: string, actions: readonly Action[] | null): boolean =>
    (actions ?? []).every((action) => Object.hasOwn(areas, area) && areas[area]?.includes(action));
  for (const [area, actions] of Object.entries(wanted.org)) if (!has(own.org, area, actions)) return area;
  for (const kind of ['datasets', 'views'] as const)
    for (const [name, areas] of Object.entries(wanted[kind]))
      for (const [area, actions] of Object.entries(areas))
        if (!grantsOn(own[kind], name).some((mine) => has(mine, area, actions))) return `${area} on ${name}`;
  return undefined;
}

/** An own key only: a dataset may be called `constructor`. */
function grantsOn(grants: Capabilities['datasets'], dataset: string): Areas[] {
  return ['*', dataset].flatMap((name) => (Object.hasOwn(grants, name) ? [grants[name]!] : []));
}
