/** The one organisation of a local service, as the API shows it: a plan without payment, a license that states this service's limits. */
import { z } from 'zod';
import { NO_TIME } from '../../core/time/time-text.ts';
import { SERVICE_DATASETS, SERVICE_USERS } from '../limits.ts';
import { CLIENT_TYPES, looser } from '../http/client-types.ts';
import { ROLES, type UserRole } from './rights.ts';

const time = z.iso.datetime();

export const ORG = z.object({
  id: z.string(),
  name: z.string(),
  plan: z.string(),
  planCreated: time,
  lastUsageSync: time,
  role: z.enum(ROLES).register(CLIENT_TYPES, looser),
  primaryEmail: z.string(),
  paymentStatus: z.enum(['na', 'failed', 'success', 'blocked']).register(CLIENT_TYPES, looser),
  firstFailedPayment: z.string(),
  metaCreated: time,
  metaModified: time,
  metaVersion: z.string(),
  license: z.object({
    id: z.string(),
    tier: z.string(),
    issuer: z.string(),
    issuedTo: z.string(),
    issuedAt: time,
    validFrom: time,
    monthlyIngestGb: z.int(),
    apiRateLimitPerSecond: z.int(),
    maxUsers: z.int(),
    maxTeams: z.int(),
    maxDatasets: z.int(),
    maxMonitors: z.int(),
    maxFields: z.int(),
    maxEndpoints: z.int(),
    maxQueryWindowSeconds: z.int(),
    maxAuditWindowSeconds: z.int(),
    withRBAC: z.boolean(),
    withAuths: z.array(z.string()),
    features: z.record(z.string(), z.boolean()),
  }),
  externalPlan: z.object({
    startingOn: time,
    endingBefore: time,
    trialEndingBefore: time,
    nextBillingDate: time,
    trialed: z.boolean(),
    state: z.string(),
    planID: z.string(),
    planInstanceID: z.string(),
  }),
});
/** What newer clients read, too. */
export const ORG_V2 = ORG.extend({ defaultEdgeDeployment: z.string().register(CLIENT_TYPES, looser) });
export type Organisation = z.infer<typeof ORG>;

export interface OrganisationFacts {
  readonly id: string;
  readonly name: string;
  readonly created: string;
  readonly email: string;
  /** 0 for none. */
  readonly ratePerSecond: number;
  /** 0 for none. */
  readonly monthlyBytes: number;
  readonly maxFields: number;
}

/** As a user with this role sees it. A limit of 0 means no limit. */
export function organisationOf(
  { id, name, created, email, ratePerSecond, monthlyBytes, maxFields }: OrganisationFacts,
  role: UserRole,
): Organisation {
  return {
    id,
    name,
    plan: 'local',
    planCreated: created,
    lastUsageSync: NO_TIME,
    role,
    primaryEmail: email,
    paymentStatus: 'na',
    firstFailedPayment: '',
    metaCreated: created,
    metaModified: created,
    metaVersion: '1',
    license: {
      id: '',
      tier: 'local',
      issuer: 'tailrace',
      issuedTo: id,
      issuedAt: created,
      validFrom: created,
      monthlyIngestGb: Math.ceil(monthlyBytes / 1e9),
      apiRateLimitPerSecond: ratePerSecond,
      maxUsers: SERVICE_USERS,
      maxTeams: 0,
      maxDatasets: SERVICE_DATASETS,
      maxMonitors: 0,
      maxFields,
      maxEndpoints: 0,
      maxQueryWindowSeconds: 0,
      maxAuditWindowSeconds: 0,
      withRBAC: true,
      withAuths: [],
      // The service has no endpoints and notifiers, so their flags are absent.
      features: { tracing: false },
    },
    externalPlan: {
      startingOn: NO_TIME,
      endingBefore: NO_TIME,
      trialEndingBefore: NO_TIME,
      nextBillingDate: NO_TIME,
      trialed: false,
      state: '',
      planID: '',
      planInstanceID: '',
    },
  };
}
