import { join, relative } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { TestTimes } from './scripts/test-times.ts';

/** What takes longest begins first, so that none of them ends alone. A checkout that has run them knows better. */
const LONGEST = [
  'sources/file/model/promise',
  'packages/install',
  'service/conformance-clickhouse',
  'hostile/linear',
  'service/query-arguments',
  'service/conformance-own-columns',
  'service/conformance-embedded',
  'e2e/audit-ends',
  'e2e/firewall',
  'e2e/firewall-rights',
  'service/memory',
  'sources/file/model/faults',
  'e2e/backpressure',
  'packages/contents',
  'e2e/other-file-system',
  'service/query-hostile',
  'e2e/full-memory',
  'sources/file/other-file-system',
  'e2e/storm',
  'service/ended-queries',
  'packages/bare-debian',
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
