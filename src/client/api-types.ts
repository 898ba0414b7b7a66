/**
 * What the service takes and gives, as its HTTP API writes it. Values that a specification leaves open (a service may have more
 * roles, types and operations than those seen) are plain text, and lists and texts that may be missing are optional.
 */

/** RFC 3339, UTC. */
export type Timestamp = string;

export interface Dataset {
  readonly id: string;
  /** 1 to 128 of `A-Z a-z 0-9 -`. */
  readonly name: string;
  readonly description: string;
  readonly created: Timestamp;
  readonly integrationConfigs: readonly string[] | null;
  /** The name of who made it. */
  readonly who: string;
}

export interface FieldMeta {
  readonly name: string;
  readonly type: string;
  readonly unit: string;
  readonly hidden: boolean;
  readonly description: string;
}

export interface QueryMessage {
  readonly code: string;
  readonly count: number;
  readonly msg: string;
  readonly priority: string;
}

export interface QueryStatus {
  readonly blocksExamined: number;
  readonly cacheStatus: number;
  readonly continuationToken?: string;
  /** Microseconds. */
  readonly elapsedTime: number;
  readonly isEstimate: boolean;
  readonly isPartial: boolean;
  readonly minBlockTime: Timestamp;
  readonly maxBlockTime: Timestamp;
  readonly messages?: readonly QueryMessage[] | null;
  readonly numGroups: number;
  readonly rowsExamined: number;
  /** Rows that match, whatever the page's size. */
  readonly rowsMatched: number;
  /** The oldest and the newest row of the page. */
  readonly minCursor?: string;
  readonly maxCursor?: string;
  readonly blocksCached?: number;
  readonly blocksMatched?: number;
}

export interface TableField {
  readonly name: string;
  readonly type: string;
  /** Of a column that a summary made. */
  readonly agg?: { readonly name: string; readonly [key: string]: unknown };
}

export interface Table {
  readonly name: string;
  readonly sources: readonly { readonly name: string }[];
  readonly fields: readonly TableField[];
  readonly order: readonly { readonly field: string; readonly desc: boolean }[];
  readonly groups: readonly { readonly name: string }[];
  readonly range?: { readonly field: string; readonly start: Timestamp; readonly end: Timestamp };
  /** Of a summary by time; the size is in nanoseconds. */
  readonly buckets?: { readonly field: string; readonly size: number };
  /** One list for each field, one value in it for each row. */
  readonly columns: readonly (readonly unknown[])[];
}

export interface TabularResult {
  readonly format: string;
  readonly status: QueryStatus;
  readonly tables: readonly Table[];
  /** What the query's `render` says, where it has one. */
  readonly render?: { readonly chart: string; readonly properties: Readonly<Record<string, string>> };
  readonly datasetNames: readonly string[];
  readonly fieldsMetaMap: Readonly<Record<string, readonly FieldMeta[]>>;
}

export interface Match {
  readonly _rowId: string;
  readonly _sysTime: Timestamp;
  readonly _time: Timestamp;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface GroupResult {
  readonly id: number;
  readonly group: Readonly<Record<string, unknown>>;
  readonly aggregations: readonly { readonly op: string; readonly value: unknown }[] | null;
}

export interface LegacyResult {
  readonly status: QueryStatus;
  readonly matches: readonly Match[] | null;
  readonly buckets: {
    readonly series:
      | readonly { readonly startTime: Timestamp; readonly endTime: Timestamp; readonly groups: readonly GroupResult[] | null }[]
      | null;
    readonly totals: readonly GroupResult[] | null;
  };
  /** Of a query of one dataset. */
  readonly fieldsMeta?: readonly FieldMeta[];
  /** Of a query in APL. */
  readonly datasetNames?: readonly string[];
  readonly fieldsMetaMap?: Readonly<Record<string, readonly FieldMeta[]>>;
  readonly request?: LegacyQuery;
}

export interface Filter {
  readonly op: string;
  readonly field?: string;
  readonly value?: unknown;
  readonly caseSensitive?: boolean;
  readonly children?: readonly Filter[] | null;
}

/** A structured query of one dataset; all of it is optional. Times are RFC 3339 or relative, such as `now-1h`. */
export interface LegacyQuery {
  readonly startTime?: string;
  readonly endTime?: string;
  readonly aggregations?:
    | readonly { readonly op: string; readonly field?: string; readonly alias?: string; readonly argument?: unknown }[]
    | null;
  readonly filter?: Filter | null;
  readonly groupBy?: readonly string[] | null;
  readonly order?: readonly { readonly field: string; readonly desc?: boolean }[] | null;
  readonly project?: readonly { readonly field: string; readonly alias?: string }[] | null;
  readonly virtualFields?: readonly { readonly alias: string; readonly expr: string }[] | null;
  readonly resolution?: string;
  readonly limit?: number;
  readonly cursor?: string;
  readonly includeCursor?: boolean;
  readonly continuationToken?: string;
  readonly queryOptions?: Readonly<Record<string, string>> | null;
}

/** Options of a query in APL beside its text. */
export interface AplOptions {
  /** RFC 3339 or relative, such as `now-1h`; none: from the beginning. */
  readonly startTime?: string;
  /** None: now. */
  readonly endTime?: string;
  /** Rows of the page; a lower limit in the text holds. */
  readonly limit?: number;
  readonly cursor?: string;
  readonly includeCursor?: boolean;
  /** Events come with a column `_cursor`. */
  readonly includeCursorField?: boolean;
  /** A Go duration: the answer waits so long for events to be stored. */
  readonly streamingDuration?: string;
  readonly queryOptions?: Readonly<Record<string, string>>;
  readonly noCache?: boolean;
  readonly signal?: AbortSignal;
}

export interface LegacyOptions {
  readonly noCache?: boolean;
  /** `analytics`, `stream` or `apl`. */
  readonly saveAsKind?: string;
  /** A Go duration or `auto`. */
  readonly streamingDuration?: string;
  readonly signal?: AbortSignal;
}

export interface User {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: string;
  readonly permissions: readonly string[];
}

export interface CurrentUser {
  readonly id: string;
  readonly name: string;
  readonly emails: readonly string[];
}

export interface License {
  readonly id: string;
  readonly tier: string;
  readonly issuer: string;
  readonly issuedTo: string;
  readonly issuedAt: Timestamp;
  readonly validFrom: Timestamp;
  readonly monthlyIngestGb: number;
  readonly apiRateLimitPerSecond: number;
  readonly maxUsers: number;
  readonly maxTeams: number;
  readonly maxDatasets: number;
  readonly maxMonitors: number;
  readonly maxFields: number;
  readonly maxEndpoints: number;
  readonly maxQueryWindowSeconds: number;
  readonly maxAuditWindowSeconds: number;
  readonly withRBAC: boolean;
  readonly withAuths: readonly string[];
  readonly features: Readonly<Record<string, boolean>>;
}

/** A time of year 0001 is an unset one. */
export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly plan: string;
  readonly planCreated: Timestamp;
  readonly lastUsageSync: Timestamp;
  readonly metaCreated: Timestamp;
  readonly metaModified: Timestamp;
  readonly metaVersion: string;
  readonly paymentStatus: string;
  readonly firstFailedPayment: string;
  readonly role: string;
  readonly primaryEmail: string;
  readonly license: License;
  readonly externalPlan: {
    readonly startingOn: Timestamp;
    readonly endingBefore: Timestamp;
    readonly trialEndingBefore: Timestamp;
    readonly nextBillingDate: Timestamp;
    readonly trialed: boolean;
    readonly state: string;
    readonly planID: string;
    readonly planInstanceID: string;
  };
}

export type Action = 'create' | 'read' | 'update' | 'delete';

/** What a token is to be: its rights by dataset (`*` is every one) and area, such as `{logs: {ingest: ['create']}}`. */
export interface NewToken {
  readonly name: string;
  readonly description?: string;
  readonly expiresAt?: Timestamp;
  readonly datasetCapabilities?: Readonly<Record<string, Readonly<Record<string, readonly Action[]>>>>;
  readonly orgCapabilities?: Readonly<Record<string, readonly Action[]>>;
  readonly viewCapabilities?: Readonly<Record<string, Readonly<Record<string, readonly Action[]>>>>;
  /** A personal token has the rights of its user; `api` when absent. */
  readonly kind?: 'api' | 'personal';
  /** Id or e-mail address of a personal token's user; the caller when absent. */
  readonly user?: string;
}

export interface Token {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly created?: Timestamp;
  readonly expiresAt?: Timestamp | null;
  readonly datasetCapabilities?: Readonly<Record<string, Readonly<Record<string, readonly string[] | null>>>> | null;
  readonly orgCapabilities?: Readonly<Record<string, readonly string[] | null>> | null;
  readonly viewCapabilities?: Readonly<Record<string, Readonly<Record<string, readonly string[] | null>>>> | null;
  readonly samlAuthenticated?: boolean;
}

/** The one reply that holds the token itself. */
export interface CreatedToken extends Token {
  readonly token: string;
}
