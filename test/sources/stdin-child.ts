/** The stdin source in a process of its own: prints each line it hands over, at the end its numbers. SIGTERM stops it. */
import { createStdinSource } from '../../src/sources/stdin/stdin.ts';
import { plainLineConfig } from '../support/source-config.ts';
import { createTestContext } from './source-context.ts';

const context = createTestContext();
const source = createStdinSource({ ...plainLineConfig, id: 'pipe' }, context);
await source.open();
process.once('SIGTERM', () => void source.stop());
const running = source.run();
process.stderr.write('running\n');
await running;
for (const { lines, single } of context.lane.blocks) {
  for (const line of lines)
    console.log(JSON.stringify({ line: line.toString(), single: single && single.marks !== undefined }));
}
console.log(JSON.stringify({ stats: source.stats, logged: context.logged }));
