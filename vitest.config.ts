import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, 'test/long/**'],
    pool: 'forks',
    maxWorkers: 3,
    testTimeout: 900_000,
    hookTimeout: 900_000,
    // Its own second fails on a busy machine; this only ends a hang, as `until` does.
    expect: { poll: { timeout: 60_000 } },
    execArgv: ['--disable-warning=ExperimentalWarning'],
  },
});
