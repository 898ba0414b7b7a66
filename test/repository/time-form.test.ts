/** The recipe of CONTRIBUTING.md for a form of times, followed in a copy of the tree. */
import { expect, test } from 'vitest';
import { copyTree, read, run, write } from './tree-copy.ts';

const ROW = "{ layout: '02~Jan~2006@15:04:05', example: '[30~Dec~2025@10:15:00] x', writer: 'a toy' }";
/** Both readers on a line of the new form. */
const TRY = `import { leadingTime } from './src/core/time/own-time.ts';
import { createZone } from './src/core/time/zone.ts';
import { createKernel } from './src/kernel/kernel.ts';
const readAtMs = Date.parse('2026-01-02T00:00:00Z');
const line = '[INFO] 30~Dec~2025@10:15:00.5 Asia/Tokyo x';
const kernel = createKernel(1024 * 1024);
const [input, output] = [kernel.reserve(1024), kernel.reserve(4096)];
const template = kernel.compile({ format: 'text', wrapFields: {}, fields: {}, time: { zone: 'UTC', keys: [], messageLeads: false } }, undefined);
const { written } = kernel.wrap(template, readAtMs, input, 0, input.bytes.write(line + '\\n'), output, 0, 4096, 9);
const { second, fraction } = leadingTime(line, { zone: createZone('UTC'), readAtMs })!;
console.log(JSON.parse(output.bytes.toString('utf8', 0, written))._time, new Date(second * 1000).toISOString(), fraction);
`;

test('a form of times is one row', () => {
  const copy = copyTree({ 'try.ts': TRY });
  const table = 'src/core/time/forms.ts';
  write(copy, table, read(copy, table).replace(/\n\](?=; .. prettier-ignore)/, `\n  ${ROW},\n]`));
  expect(run(copy, 'scripts/generate.ts')).toContain('docs/formats.md');
  expect(read(copy, 'docs/formats.md')).toContain('| `02~Jan~2006@15:04:05` | `[30~Dec~2025@10:15:00] x` | a toy |');
  expect(run(copy, 'try.ts')).toBe('2025-12-30T01:15:00.5Z 2025-12-30T01:15:00.000Z 5');
});
