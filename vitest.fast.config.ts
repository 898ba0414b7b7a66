/** `npm run test:fast`: what needs no service, no child process of minutes and no random schedules; for the moment before a commit. */
import { defineConfig } from 'vitest/config';
import config from './vitest.config.ts';

const SLOW = [
  'test/agent/**',
  'test/bench/**',
  'test/cli/**',
  'test/e2e/**',
  'test/packages/**',
  'test/pages/**',
  'test/service/**',
  'test/kernel/{fuzz,gzip,module}.test.ts',
  'test/sources/file/model/**',
  'test/sources/file/{joining-schedule,nth-call,tmpfs,truncation-races}.test.ts',
];

export default defineConfig({ ...config, test: { ...config.test, exclude: [...config.test!.exclude!, ...SLOW] } });
