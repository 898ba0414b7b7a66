/** The monthly quota by itself: months, restarts, and amounts taken back. */
import { expect, test } from 'vitest';
import { openQuota } from '../../src/service/ingest/quota.ts';
import type { Metadata } from '../../src/service/metadata.ts';

const facts = new Map<string, string>();
const metadata = {
  fact: (name: string) => facts.get(name),
  setFact: (name: string, value: string) => void facts.set(name, value),
  afterCommit: (change: () => void) => change(),
} as unknown as Metadata;

test('a quota starts anew with the month, is kept over restarts, and gives back events that were not stored', () => {
  const november = new Date('2026-11-30T23:59:00Z');
  const december = new Date('2026-12-01T00:00:00Z');
  const quota = openQuota(metadata, 100);
  quota.add(99, november);
  quota.check(november);
  quota.add(50, november);
  quota.add(-50, november);
  quota.check(november);
  quota.add(1, november);
  const refusal = {
    status: 430,
    headers: { 'Retry-After': '60' },
    message: expect.stringContaining('2026-12-01T00:00:00') as string,
  };
  expect(() => quota.check(november)).toThrow(expect.objectContaining(refusal));
  expect(() => openQuota(metadata, 100).check(november)).toThrow(expect.objectContaining(refusal));
  quota.check(december);
  // What a request of the month before takes back leaves this one alone.
  quota.add(-50, december);
  quota.add(100, december);
  expect(() => quota.check(december)).toThrow(expect.objectContaining({ status: 430 }));
});

test('without one nothing is counted', () => {
  facts.clear();
  openQuota(metadata, 0).add(5, new Date());
  expect(facts.size).toBe(0);
});
