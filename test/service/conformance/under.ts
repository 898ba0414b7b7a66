/**
 * The one service that a run of the conformance suite asks, and short ways to ask it. Written from the specification and its facts; an entry
 * file (conformance-*.test.ts) says on which engine it runs. Each reply is also held against the OpenAPI document that the service serves.
 */
import { afterAll, beforeAll, test as base } from 'vitest';
import type { ServiceLimits } from '../../../src/service/limits.ts';
import {
  startForTest,
  type CallOptions,
  type Client,
  type EngineUnderTest,
  type ServiceUnderTest,
} from '../support.ts';

export let under: ServiceUnderTest;
export let client: Client;
export let engine: EngineUnderTest;

export const NDJSON = 'application/x-ndjson';
export const JSON_TYPE = 'application/json';

/** Starts it before the tests of this file and stops it after them. */
export function runOn(which: EngineUnderTest, limits: Partial<ServiceLimits> = {}): void {
  engine = which;
  beforeAll(async () => {
    under = await startForTest({ engine: which, limits });
    client = under.client;
  });
  afterAll(() => under.stop());
}

let made = 0;

/** A new dataset's name. */
export async function dataset(): Promise<string> {
  const name = `made-${made++}`;
  await client.createDataset(name);
  return name;
}

/** Tests that begin with a new dataset. */
export const test = base.extend('made', () => dataset());

/** Sends a body to a new dataset, and reads the stored rows, oldest first. */
export async function store(type: string, body: string | Buffer, options: CallOptions & { query?: string } = {}) {
  const name = await dataset();
  const path = `/v1/ingest/${name}${options.query ? `?${options.query}` : ''}`;
  const answer = await client.call('POST', path, {
    ...options,
    headers: { 'content-type': type, ...options.headers },
    body,
  });
  const stored = await client.query(name, {
    order: [{ field: '_rowId' }],
    startTime: '1900-01-01T00:00:00Z',
    endTime: '2262-04-11T00:00:00Z',
  });
  return {
    name,
    answer,
    reply: answer.json,
    data: stored.matches.map((match) => match.data),
    times: stored.matches.map((match) => match._time),
    stored,
  };
}

/** With the personal token of the first owner, and the organisation's header. */
export const asOwner = (): CallOptions => ({
  token: client.personalToken,
  headers: { 'x-service-org-id': client.orgId },
});
