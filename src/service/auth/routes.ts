/** GET /v1/user, /v1/users and /v1/orgs: the one owner and the one organisation of a local service. */
import type { FastifyInstance } from 'fastify';
import { SERVICE_DATASET_FIELDS, SERVICE_DATASETS } from '../../core/limits.ts';
import type { Auth } from './tokens.ts';

const PERMISSIONS = [
  'CanIngest', 'CanQuery', 'CanUpdate', 'ChangeAccess', 'ChangeApiKeys', 'ChangeAuthentication', 'ChangeDashboards', 'ChangeIntegrations',
  'ChangeMonitorsAndNotifiers', 'ChangeSavedQueries', 'ChangeVirtualFields', 'ManageAPITokens', 'ManageBilling', 'ManageDatasets',
  'ManageEndpoints', 'ManageSharedAccessKeys',
]; // prettier-ignore
const UNSET = '0001-01-01T00:00:00Z';

export function accountRoutes(server: FastifyInstance, { owner, credentials }: Auth, created: string): void {
  const personal = { config: { tokens: 'personal' } } as const;
  const withoutOrg = { config: { tokens: 'personal', org: false } } as const;

  server.get('/v1/user', withoutOrg, () => ({ id: owner.id, name: owner.name, emails: [owner.email] }));
  server.get('/v1/users', personal, () => [{ ...owner, role: 'owner', permissions: PERMISSIONS }]);
  server.get('/v1/orgs', withoutOrg, () => [
    {
      id: credentials.orgId,
      name: credentials.orgId,
      plan: 'local',
      planCreated: created,
      lastUsageSync: UNSET,
      role: 'owner',
      primaryEmail: owner.email,
      paymentStatus: '',
      firstFailedPayment: '',
      metaCreated: created,
      metaModified: created,
      metaVersion: '1',
      license: {
        id: '',
        tier: 'local',
        issuer: 'tailrace',
        issuedTo: credentials.orgId,
        issuedAt: created,
        validFrom: created,
        // 0 means that there is no such limit.
        monthlyIngestGb: 0,
        apiRateLimitPerSecond: 0,
        maxUsers: 1,
        maxTeams: 0,
        maxDatasets: SERVICE_DATASETS,
        maxMonitors: 0,
        maxFields: SERVICE_DATASET_FIELDS,
        maxEndpoints: 0,
        maxQueryWindowSeconds: 0,
        maxAuditWindowSeconds: 0,
        withRBAC: false,
        withAuths: [],
        features: {},
      },
      externalPlan: {
        startingOn: UNSET,
        endingBefore: UNSET,
        trialEndingBefore: UNSET,
        nextBillingDate: UNSET,
        trialed: false,
        state: '',
        planID: '',
        planInstanceID: '',
      },
    },
  ]);
}
