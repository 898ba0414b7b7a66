/** How long it takes to refuse a token must not tell how near it was to a known one: every known hash is compared, whole, whichever fits. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openTokens, type TokenStore } from '../../src/service/auth/tokens.ts';
import { openUsers } from '../../src/service/auth/users.ts';
import { openMetadata, type Metadata } from '../../src/service/metadata.ts';
import { makeTree } from '../support/temp-tree.ts';

const compared = vi.hoisted(() => ({ lengths: [] as number[] }));
vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>();
  const timingSafeEqual: typeof crypto.timingSafeEqual = (a, b) => {
    compared.lengths.push(a.byteLength, b.byteLength);
    return crypto.timingSafeEqual(a, b);
  };
  return { ...crypto, timingSafeEqual };
});

let metadata: Metadata;
let tokens: TokenStore;
beforeEach(() => {
  metadata = openMetadata(makeTree({}), false);
  const { owner } = openUsers(metadata, new Date());
  tokens = openTokens(metadata);
  for (const text of ['xaat-first', 'xaat-second', 'xaat-third'])
    tokens.create(
      {
        kind: 'api',
        name: text,
        description: '',
        user: owner.id,
        capabilities: { datasets: {}, org: {}, views: {} },
        expires: null,
      },
      text,
    );
});
afterEach(() => metadata.close());

test.each([
  ['xaat-first', 'xaat-first'],
  ['xaat-third', 'xaat-third'],
  ['xaat-thirc', undefined],
  ['', undefined],
  ['x'.repeat(10_000), undefined],
])('the token %s is compared with all three, by hashes of one length', (text, name) => {
  compared.lengths = [];
  expect(tokens.find(text)?.name).toBe(name);
  expect(compared.lengths).toEqual(Array<number>(6).fill(32));
});
