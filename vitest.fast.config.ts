/** `npm run test:fast`, for the moment before a commit: something of every room. 90 s is the aim, 260 s were measured on 2 slow cores. */
import { defineConfig } from 'vitest/config';
import config from './vitest.config.ts';

/** The quick files of rooms whose others start agents, services, browsers or machines, or draw texts for minutes. */
const QUICK_OF_ROOM: Readonly<Record<string, string>> = {
  agent: 'control explain-page include-config live-tail lost-batch owners replay sink-pipeline status-line stream-view',
  bench: 'inputs null-sink',
  cli: 'audit-ranges buffer case-names failed-requests full-disk init-kinds init-secrets init-times offline-tokens preview-syslog query-pages query-range table tap test',
  e2e: 'hostile-files init lost-reader name-change safe-links service-bad-input shaping-bad-input snapshot stdin sync two-sinks',
  hostile: 'names-of-objects',
  packages: 'completions deploy helm pod-monitor',
  pages: 'explorer-completion explorer-editor',
  service:
    'arrivals engine-memory fair-budget apl-queries has-terms insert-groups keys memory-queries observe personal-ingest public-client query-cells query-docs query-extent query-shapes query-size query-turns query-waits quota rate-limit read-request readers running-queries saved-store shard small-bounds timestamps token-comparison trim-bound',
};
const rooms = Object.keys(QUICK_OF_ROOM);

const include = [
  `test/!(${rooms.join('|')})/**/*.test.ts`,
  ...rooms.flatMap((room) => QUICK_OF_ROOM[room]!.split(' ').map((name) => `test/${room}/${name}.test.ts`)),
];

/** Random schedules, faults of every call, and copies of the whole tree. */
const SLOW = [
  'test/batcher/{bisect,disk-kill,disk-model}.test.ts',
  'test/config/hostile.test.ts',
  'test/kernel/{fuzz,module}.test.ts',
  'test/repository/{examples,exports,recipes,sink-recipe,source-recipe,stat-recipe}.test.ts',
  'test/shaping/{redact,rows}/{engine-differential,hostile,linear,plain-pattern}.test.ts',
  'test/sinks/ingest/http/chaos.test.ts',
  'test/sources/file/model/**',
  'test/sources/file/{copies-at-any-speed,joining-random,nth-call,other-file-system,schedule,truncation-races,undecided}.test.ts',
  'test/sources/syslog/unfinished.test.ts',
  'test/state/{nth-call,nth-syscall}.test.ts',
];

export default defineConfig({
  ...config,
  test: { ...config.test, include, exclude: [...config.test!.exclude!, ...SLOW] },
});
