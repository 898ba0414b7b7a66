/**
 * What a caller may do, as pure data: the capabilities of API tokens, and the rights and permission names of roles. The service acts on the
 * capabilities listed here, and stores and returns all others.
 */
import { z } from 'zod';
import { CLIENT_TYPES, looser } from '../http/client-types.ts';

/** The roles of users, the most powerful first. */
export const ROLES = ['owner', 'admin', 'user'] as const;
export type UserRole = (typeof ROLES)[number];

/** What a token may be allowed on a dataset, and the one action that each has. */
const DATASET_ACTIONS = { ingest: 'create', query: 'read', trim: 'update' } as const;
export type DatasetRight = keyof typeof DATASET_ACTIONS;

export type AccessAction = z.infer<typeof ACTION>;
export type OrgArea = 'datasets' | 'apiTokens' | 'users' | 'annotations';

/** What an endpoint asks of its caller. */
export type Need =
  | { readonly kind: 'dataset'; readonly right: DatasetRight }
  /** The right on any dataset, whichever it is. */
  | { readonly kind: 'any-dataset'; readonly right: DatasetRight }
  /** Any right on the dataset, or reading all of them. */
  | { readonly kind: 'dataset-view' }
  /** Changing what belongs to a dataset beside its events takes that right on it, or the right to update datasets. */
  | { readonly kind: 'dataset-part'; readonly area: 'virtualFields'; readonly action: AccessAction }
  | { readonly kind: 'org'; readonly area: OrgArea; readonly action: AccessAction };

export const ACTION = z.enum(['create', 'read', 'update', 'delete']);
const AREAS = z.record(z.string().max(64), z.array(ACTION).max(4).nullable()).register(CLIENT_TYPES, looser);

export const DATASET_CAPABILITIES = z.record(z.string().max(128), AREAS).register(CLIENT_TYPES, looser);
export const ORG_CAPABILITIES = AREAS;
export const VIEW_CAPABILITIES = z.record(z.string().max(128), AREAS).register(CLIENT_TYPES, looser);

/** By area, the actions allowed; null counts as none. */
export type Areas = Readonly<Record<string, readonly AccessAction[] | null>>;

export interface Capabilities {
  /** By dataset name; `*` is every dataset. */
  readonly datasets: Readonly<Record<string, Areas>>;
  readonly org: Areas;
  /** By view name. The service has no views: it stores and returns these. */
  readonly views: Readonly<Record<string, Areas>>;
}

const EVERY: readonly AccessAction[] = ['create', 'read', 'update', 'delete'];

/** The API tokens of the first start: one for programs that query and manage datasets, short of deleting them, and one for agents. */
export const FIRST_TOKENS = {
  api: {
    datasets: { '*': { ingest: ['create'], query: ['read'], trim: ['update'] } },
    org: { datasets: ['create', 'read', 'update'] },
    views: {},
  },
  ingest: { datasets: { '*': { ingest: ['create'] } }, org: { datasets: ['create'] }, views: {} },
} as const satisfies Record<string, Capabilities>;

/** What personal tokens may do, by the role of their user. Ingest takes API tokens only. */
export const ROLE_CAPABILITIES: Readonly<Record<UserRole, Capabilities>> = {
  owner: {
    datasets: { '*': { query: ['read'], trim: ['update'] } },
    org: { datasets: EVERY, apiTokens: EVERY, users: EVERY },
    views: {},
  },
  admin: {
    datasets: { '*': { query: ['read'], trim: ['update'] } },
    org: { datasets: EVERY, apiTokens: EVERY, users: EVERY },
    views: {},
  },
  user: { datasets: { '*': { query: ['read'] } }, org: { datasets: ['read'], users: ['read'] }, views: {} },
};

/** What a personal token may do. With `ingest`, off by default, owners and admins may ingest, too. */
export function capabilitiesOf(role: UserRole, ingest: boolean): Capabilities {
  const own = ROLE_CAPABILITIES[role];
  if (!ingest || role === 'user') return own;
  return { ...own, datasets: { '*': { ...own.datasets['*'], ingest: ['create'] } } };
}

const ADMIN_PERMISSIONS = [
  'CanIngest',
  'CanQuery',
  'CanUpdate',
  'ChangeAccess',
  'ChangeApiKeys',
  'ChangeAuthentication',
  'ChangeDashboards',
  'ChangeIntegrations',
  'ChangeMonitorsAndNotifiers',
  'ChangeSavedQueries',
  'ChangeVirtualFields',
  'ManageAPITokens',
  'ManageDatasets',
  'ManageEndpoints',
  'ManageSharedAccessKeys',
] as const;

/** The permission names of a role, as the user list shows them. */
export const PERMISSIONS: Readonly<Record<UserRole, readonly string[]>> = {
  owner: [...ADMIN_PERMISSIONS, 'ManageBilling'],
  admin: ADMIN_PERMISSIONS,
  user: ['CanQuery'],
};

export const mayOrg = ({ org }: Capabilities, area: OrgArea, action: AccessAction): boolean =>
  org[area]?.includes(action) ?? false;

export function mayDataset({ datasets }: Capabilities, right: DatasetRight, dataset: string): boolean {
  return grantsOn(datasets, dataset).some((areas) => areas[right]?.includes(DATASET_ACTIONS[right]));
}

export const mayAnyDataset = (capabilities: Capabilities, right: DatasetRight): boolean =>
  Object.keys(capabilities.datasets).some((name) => mayDataset(capabilities, right, name));

export const mayPart = (capabilities: Capabilities, area: string, action: AccessAction, dataset: string): boolean =>
  mayOrg(capabilities, 'datasets', 'update') ||
  grantsOn(capabilities.datasets, dataset).some((areas) => areas[area]?.includes(action));

export function maySee(capabilities: Capabilities, dataset: string): boolean {
  if (mayOrg(capabilities, 'datasets', 'read')) return true;
  return Object.keys(DATASET_ACTIONS).some((right) => mayDataset(capabilities, right as DatasetRight, dataset));
}

/** The first capability of `wanted` that `own` does not have; undefined when it has all. */
export function firstBeyond(own: Capabilities, wanted: Capabilities): string | undefined {
  const has = (areas: Areas, area: string, actions: readonly AccessAction[] | null): boolean =>
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
