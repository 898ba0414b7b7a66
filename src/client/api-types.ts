/**
 * What the service takes and gives, as its HTTP API writes it. Values that other services may have more of are plain text there, and lists and
 * texts that they leave out are optional. Written by scripts/generate.ts from the schemas in src/service.
 */

export interface Dataset {
  readonly id: string; readonly name: string; readonly description: string; readonly created: string;
  readonly who: string; readonly integrationConfigs?: readonly string[] | null; readonly kind: string;
  readonly region?: string; readonly edgeDeployment?: string;
}

export interface DatasetInfo {
  readonly name: string; readonly numBlocks: number; readonly numEvents: number; readonly numFields: number;
  readonly inputBytes: number; readonly inputBytesHuman: string; readonly compressedBytes: number;
  readonly compressedBytesHuman: string; readonly minTime: string; readonly maxTime: string;
  readonly fields: readonly FieldMeta[]; readonly who: string; readonly created: string;
}

export interface FieldMeta {
  readonly name: string; readonly type: string; readonly unit: string; readonly hidden: boolean;
  readonly description: string;
}

export interface ListedQuery {
  readonly id: string;
  /** The text of the query, APL or JSON, cut when long. */
  readonly text: string;
  readonly datasets: readonly string[]; readonly startTime: string;
  /** Microseconds. */
  readonly elapsedTime: number;
  readonly state: 'waiting' | 'running';
}

export interface AplQuery {
  readonly apl?: string | null; readonly startTime?: string | null; readonly endTime?: string | null;
  readonly limit?: number | null; readonly defaultLimit?: number | null; readonly cursor?: string | null;
  readonly includeCursor?: boolean | null; readonly includeCursorField?: boolean | null;
  readonly variables?: Readonly<Record<string, unknown>> | null;
  readonly queryOptions?: Readonly<Record<string, unknown>> | null;
}

export interface TabularResult {
  readonly format: 'tabular'; readonly status: QueryStatus; readonly tables: readonly Table[];
  readonly datasetNames: readonly string[]; readonly fieldsMetaMap: Readonly<Record<string, readonly FieldMeta[]>>;
  /** What `render` says, where the query has it. */
  readonly render?: {
    readonly chart: string; readonly properties: Readonly<Record<string, string>>;
  };
}

export interface Table {
  readonly name: string; readonly sources: readonly { readonly name: string }[]; readonly fields: readonly TableField[];
  readonly order: readonly { readonly field: string; readonly desc: boolean }[];
  readonly groups: readonly { readonly name: string }[];
  readonly range?: {
    readonly field: string; readonly start: string; readonly end: string;
  } | null;
  /** Of a summary by time; the size is in nanoseconds. */
  readonly buckets?: { readonly field: string; readonly size: number };
  /** One list for each field, one value in it for each row. */
  readonly columns: readonly (readonly unknown[])[];
}

export interface TableField {
  readonly name: string; readonly type: string;
  /** Of a column that a summary made. */
  readonly agg?: {
    readonly name: string; readonly fields?: readonly string[]; readonly args?: readonly unknown[];
  };
}

export interface QueryStatus {
  /** Microseconds. */
  readonly elapsedTime: number;
  /** Of the oldest row of the page. */
  readonly minCursor?: string;
  /** Of the newest row of the page. */
  readonly maxCursor?: string;
  readonly blocksExamined: number; readonly blocksCached?: number; readonly blocksMatched?: number;
  readonly rowsExamined: number;
  /** Rows that match, whatever the page's size. */
  readonly rowsMatched: number;
  readonly numGroups: number; readonly isPartial: boolean; readonly isEstimate: boolean; readonly cacheStatus: number;
  readonly continuationToken?: string; readonly minBlockTime: string; readonly maxBlockTime: string;
  readonly messages?: readonly QueryMessage[] | null;
}

export interface QueryMessage {
  readonly priority: string; readonly count: number; readonly code: string; readonly msg: string;
}

export interface LegacyQuery {
  readonly startTime?: string | null; readonly endTime?: string | null; readonly limit?: number | null;
  readonly order?: readonly { readonly field: string; readonly desc?: boolean | null }[] | null;
  readonly aggregations?: readonly {
    readonly op: string; readonly field?: string | null; readonly alias?: string | null; readonly argument?: unknown;
  }[] | null;
  readonly groupBy?: readonly string[] | null;
  readonly project?: readonly { readonly field: string; readonly alias?: string | null }[] | null;
  readonly filter?: Filter | null;
  readonly virtualFields?: readonly { readonly alias: string; readonly expr: string }[] | null;
  readonly resolution?: string | null; readonly cursor?: string | null; readonly continuationToken?: string | null;
  readonly includeCursor?: boolean | null; readonly queryOptions?: Readonly<Record<string, unknown>> | null;
}

export interface Filter {
  readonly op?: string | null; readonly field?: string | null; readonly value?: unknown;
  readonly caseSensitive?: boolean | null; readonly children?: readonly Filter[] | null;
}

/** Of a query of one dataset, with `fieldsMeta`; or of one by text, with the other optional keys. */
export interface LegacyResult {
  readonly status: QueryStatus; readonly matches?: readonly Match[] | null;
  readonly buckets: {
    readonly series?: readonly {
      readonly startTime: string; readonly endTime: string; readonly groups?: readonly GroupResult[] | null;
    }[] | null;
    readonly totals?: readonly GroupResult[] | null;
  };
  readonly fieldsMeta?: readonly FieldMeta[]; readonly format?: 'legacy'; readonly datasetNames?: readonly string[];
  readonly fieldsMetaMap?: Readonly<Record<string, readonly FieldMeta[]>>;
  /** What `render` says, where the query has it. */
  readonly render?: {
    readonly chart: string; readonly properties: Readonly<Record<string, string>>;
  };
  readonly request?: { readonly resolution: string; readonly [key: string]: unknown };
}

export interface Match {
  readonly _time: string; readonly _sysTime: string; readonly _rowId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface GroupResult {
  readonly id: number; readonly group: Readonly<Record<string, unknown>>;
  readonly aggregations?: readonly { readonly op: string; readonly value: unknown }[] | null;
}

export interface CurrentUser {
  readonly id: string; readonly name: string; readonly emails: readonly string[];
}

export interface User {
  readonly id: string; readonly name: string; readonly email: string; readonly role: string;
  readonly permissions: readonly string[];
}

export interface Organization {
  readonly id: string; readonly name: string; readonly plan: string; readonly planCreated: string;
  readonly lastUsageSync: string; readonly role: string; readonly primaryEmail: string; readonly paymentStatus: string;
  readonly firstFailedPayment: string; readonly metaCreated: string; readonly metaModified: string;
  readonly metaVersion: string; readonly license: License;
  readonly externalPlan: {
    readonly startingOn: string; readonly endingBefore: string; readonly trialEndingBefore: string;
    readonly nextBillingDate: string; readonly trialed: boolean; readonly state: string; readonly planID: string;
    readonly planInstanceID: string;
  };
  readonly defaultEdgeDeployment?: string;
}

export interface License {
  readonly id: string; readonly tier: string; readonly issuer: string; readonly issuedTo: string;
  readonly issuedAt: string; readonly validFrom: string; readonly monthlyIngestGb: number;
  readonly apiRateLimitPerSecond: number; readonly maxUsers: number; readonly maxTeams: number;
  readonly maxDatasets: number; readonly maxMonitors: number; readonly maxFields: number; readonly maxEndpoints: number;
  readonly maxQueryWindowSeconds: number; readonly maxAuditWindowSeconds: number; readonly withRBAC: boolean;
  readonly withAuths: readonly string[]; readonly features: Readonly<Record<string, boolean>>;
}

export type Action = 'create' | 'read' | 'update' | 'delete';

export interface Token {
  readonly id: string; readonly name: string; readonly description?: string; readonly expiresAt?: string | null;
  readonly datasetCapabilities?: Readonly<Record<string, Readonly<Record<string, readonly Action[] | null>>>> | null;
  readonly orgCapabilities?: Readonly<Record<string, readonly Action[] | null>> | null;
  readonly viewCapabilities?: Readonly<Record<string, Readonly<Record<string, readonly Action[] | null>>>>;
}

export interface NewToken {
  readonly name: string; readonly description?: string | null; readonly expiresAt?: string | null;
  readonly datasetCapabilities?: Readonly<Record<string, Readonly<Record<string, readonly Action[] | null>>>> | null;
  readonly orgCapabilities?: Readonly<Record<string, readonly Action[] | null>> | null;
  readonly viewCapabilities?: Readonly<Record<string, Readonly<Record<string, readonly Action[] | null>>>> | null;
  /** A personal token has the rights of its user; api when absent. */
  readonly kind?: 'api' | 'personal' | null;
  /** Id or e-mail address of a personal token's user; the caller when absent. */
  readonly user?: string | null;
}

/** The one reply that holds the token itself. */
export interface CreatedToken extends Token {
  readonly token: string;
}

export interface Annotation {
  readonly id: string; readonly datasets: readonly string[]; readonly type: string; readonly time: string;
  readonly endTime?: string; readonly title?: string; readonly description?: string; readonly url?: string;
}

export interface StarredQuery {
  readonly id: string; readonly name: string; readonly kind: 'apl'; readonly dataset?: string;
  readonly query: {
    readonly apl: string; readonly queryOptions: { readonly [key: string]: unknown }; readonly [key: string]: unknown;
  };
  readonly metadata: Readonly<Record<string, string>>; readonly who: string;
}

export interface VirtualField {
  readonly id: string; readonly dataset: string; readonly name: string; readonly expression: string;
  readonly description: string; readonly type: string; readonly unit: string;
}
