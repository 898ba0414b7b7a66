/** The folder's files. */
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { client, under } from './under.ts';

describe('the data folder', () => {
  test('holds the tokens as hashes only', () => {
    const files = readdirSync(under.dataDir).filter((name) => name.startsWith('service.db'));
    const bytes = files.map((name) => readFileSync(join(under.dataDir, name), 'latin1')).join('');
    expect(bytes).toContain(createHash('sha256').update(client.apiToken).digest('hex'));
    for (const token of [client.apiToken, client.personalToken]) expect(bytes).not.toContain(token.slice(5));
  });
});
