/**
 * How many files a line passes on its way to the socket, and its acknowledgement on the way back: by the files that run, not by imports.
 */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runNode } from '../support/run-node.ts';

/** As measured; ARCHITECTURE.md has the counts, a failure prints the lists. The aim is 45 and 20. */
const MOST = { out: 87, back: 34 };

test('line passes no more files than before on its way to the socket, and its acknowledgement none on its way back', async () => {
  const ways = JSON.parse(await runNode([join(import.meta.dirname, 'line-way-child.ts')], {})) as Record<'out' | 'back', readonly string[]>;
  for (const [way, most] of Object.entries(MOST)) {
    const files = ways[way as 'out' | 'back'];
    // The ways are there: a round that missed them would have none of these.
    expect(files).toContain(way === 'out' ? 'sinks/ingest/http/connection.ts' : 'state/database/marks.ts');
    expect(files.length, `${way}:\n${files.join('\n')}`).toBeLessThanOrEqual(most);
  }
});
