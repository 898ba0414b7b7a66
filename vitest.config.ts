import { join, relative } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { TestTimes } from './scripts/test-times.ts';

/** What takes longest begins first, so that none of them ends alone. A checkout that has run them knows better. */
const LONGEST = [
  'packages/install',
  'service/conformance-clickhouse',
  'hostile/linear',
  'sources/file/model/promise',
  'service/query-arguments',
  'service/memory',
  'pages/explorer-state',
  'service/query-hostile',
  'service/conformance-own-columns',
  'service/query-differential',
  'service/conformance-embedded',
  'sources/file/other-file-system',
  'e2e/long-lines',
  'e2e/audit-ends',
  'pages/explorer-session',
  'packages/contents',
  'packages/bare-debian',
  'pages/explorer-rows',
  'e2e/backpressure',
  'e2e/faults',
  'e2e/firewall-rights',
  'e2e/other-file-system',
  'e2e/firewall',
  'agent/reload-storm',
  'service/ended-queries',
  'e2e/full-memory',
  'service/query-types-clickhouse',
  'service/query-types-embedded',
  'sources/file/model/faults',
  'e2e/storm',
].map((name) => `test/${name}.test.ts`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = LONGEST.indexOf(relative(import.meta.dirname, moduleId));
      return place < 0 ? LONGEST.length : place;
    };
    const sorted = await super.sort(files);
    return sorted.some((file) => this.ctx.cache.getTestSpecificationResult(file))
      ? sorted
      : sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

// Workers, and the scripts that tests start, are compiled once for all of them. The program under test starts without (support/program.ts).
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules', '.cache', 'compiled');

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, 'test/long/**'],
    pool: 'forks',
    maxWorkers: 3,
    globalSetup: 'test/support/run-folder.ts',
    setupFiles: ['test/support/measure-cpu.ts', 'test/support/in-memory.ts'],
    reporters: ['default', new TestTimes()],
    sequence: { sequencer: LongestFirst },
    testTimeout: 900_000,
    hookTimeout: 900_000,
    // Its own second fails on a busy machine; this only ends a hang, as `until` does.
    expect: { poll: { timeout: 60_000 } },
    execArgv: ['--disable-warning=ExperimentalWarning'],
  },
});
