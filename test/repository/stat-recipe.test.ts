/** The recipe of CONTRIBUTING.md for a number of status, followed in a copy of the tree. */
import { expect, test } from 'vitest';
import { copyTree, read, run, types, write } from './tree-copy.ts';

const SHOWN = `import { NO_RATES } from './src/telemetry/rates.ts';
import { metricsOf } from './src/telemetry/metric-table.ts';
import { statColumns, SINK_STATS } from './src/telemetry/stats.ts';
import { statusOf } from './src/telemetry/status.ts';
import { renderStatus } from './src/cli/agent/status.ts';
import { renderTop } from './src/cli/top/view.ts';
import { newDeliveryStats } from './src/telemetry/delivery-stats.ts';

const stats = Object.assign(newDeliveryStats(['toy_files_total']), { parcels: 7 });
stats.facts.set('toy_files_total', 3);
const sink = { id: 'store', ...stats, pauses: new Map(), requestSeconds: { sum: 0, count: 0 }, memoryBytes: 0, queuedBytes: 0, diskBytes: 0 };
const seen = { facts: { toy_files_total: ['Files', 'files'] }, config: { file: 'f', hash: 'h' }, sources: [], sinks: [sink], deadLetterBytes: 0 } as never;
const status = statusOf(seen);
console.log('json', JSON.stringify(status.sinks));
for (const [name, , samples] of metricsOf({ toy_files_total: ['Files', 'files'] })) if (/parcels|toy/.test(name)) console.log('metric', name, samples(seen)[0]![1]);
for (const { name, value } of statColumns(SINK_STATS, status.sinks, 'column')) console.log('column', name, value(status.sinks[0]!));
console.log(renderStatus(status, false));
console.log(renderTop({ status, rates: NO_RATES, view: 'sinks', scroll: 0, columns: 200, rows: 20, colours: false }).lines.join('\\n'));
`;

test('a number of status is its line where it is counted, and one row', () => {
  const copy = copyTree({
    'shown.ts': SHOWN,
    'tsconfig.stats.json': JSON.stringify({
      extends: './tsconfig.json',
      include: [],
      files: ['src/cli/top/top.ts', 'src/batcher/send/delivery.ts'],
    }),
  });
  const change = (path: string, from: string, to: string): void =>
    write(copy, path, read(copy, path).replace(from, to));
  change('src/telemetry/delivery-stats.ts', '    sentBytes: 0,', '    sentBytes: 0,\n    parcels: 0,');
  const row = `parcels: { value: ({ parcels }) => parcels, metric: ['sink_parcels_total', 'Parcels'], column: 'parcels', top: ['PARCELS', 9], said: 'parcels' },`;
  change('src/telemetry/stats.ts', '  retries: {', `  ${row}\n  retries: {`);
  expect(types(copy, 'tsconfig.stats.json')).toBe('');
  const shown = run(copy, 'shown.ts');
  expect(shown).toContain('"parcels":7');
  expect(shown).toContain('metric sink_parcels_total 7');
  expect(shown).toContain('column parcels 7');
  expect(shown).toMatch(/sink store: .*; 7 parcels; 3 files;/);
  expect(shown).toMatch(/PARCELS .*FILES\nstore .* 7 .* 3$/m);
  // What a type of sink declares.
  expect(shown).toContain('"facts":[{"said":"files","value":3,"isBytes":false}]');
  expect(shown).toContain('metric toy_files_total 3');
  expect(shown).toContain('column files 3');
});
