/** Tests that take minutes to hours, on demand: `npm run test:long`. */
import { defineConfig, mergeConfig } from 'vitest/config';
import config from './vitest.config.ts';

const long = mergeConfig(config, defineConfig({}));
long.test = { ...long.test, include: ['test/long/**/*.test.ts'], exclude: [] };

export default long;
