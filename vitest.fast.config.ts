/** `npm run test:fast`: what needs no service, no child process of minutes and no random schedules; for the moment before a commit. */
import { defineConfig } from 'vitest/config';
import config from './vitest.config.ts';

const SLOW = [
  'test/agent/**',
  'test/batcher/{bisect,disk-kill,disk-model}.test.ts',
  'test/bench/**',
  'test/cli/**',
  'test/e2e/**',
  'test/hostile/**',
  'test/packages/**',
  'test/pages/**',
  'test/service/**',
  'test/kernel/{fuzz,module}.test.ts',
  'test/sources/file/model/**',
  'test/repository/{examples,exports}.test.ts',
  'test/shaping/{redact,rows}/{engine-differential,hostile,linear,plain-pattern}.test.ts',
  'test/sinks/ingest/http/chaos.test.ts',
  'test/sources/file/{joining-random,nth-call,schedule,tmpfs,truncation-races}.test.ts',
  'test/state/{nth-call,nth-syscall}.test.ts',
];

export default defineConfig({ ...config, test: { ...config.test, exclude: [...config.test!.exclude!, ...SLOW] } });
