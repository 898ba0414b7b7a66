/** `npm run test:fast`, for the moment before a commit: something of every room. 90 s is the aim. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import config from './vitest.config.ts';

/** The quick files of rooms whose others start agents, services, browsers or machines, or draw texts for minutes. */
const QUICK_OF_ROOM: Readonly<Record<string, string>> = {
  agent: 'control explain-page include-config live-tail lost-batch owners replay sink-pipeline status-line stream-view',
  bench: 'inputs null-sink',
  cli: 'audit-ranges buffer case-names failed-requests full-disk init-kinds init-secrets init-times preview-syslog query-range table tap test',
  clients: 'requests',
  e2e: 'hostile-files lost-reader name-change safe-links service-bad-input snapshot stdin sync two-sinks',
  hostile: 'names-of-objects',
  packages: 'completions deploy helm pod-monitor',
  pages: 'explorer-completion',
  service:
    'arrivals engine-memory fair-budget apl-queries has-terms insert-groups keys personal-ingest public-client query-cells query-extent query-shapes query-size query-turns query-waits quota rate-limit read-request readers saved-store shard small-bounds timestamps token-comparison trim-bound',
};
/** Each by its name: to Vitest, `!(cli)` leaves `client` out, too. */
const rooms = readdirSync(join(import.meta.dirname, 'test'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

const include = rooms.flatMap((room) =>
  (QUICK_OF_ROOM[room]?.split(' ') ?? ['**/*']).map((name) => `test/${room}/${name}.test.ts`),
);

/** Random schedules and texts, faults of every call, large tables of cases, and copies of the whole tree. */
const SLOW = [
  'test/batcher/{bisect,disk-kill,disk-model}.test.ts',
  'test/client/as-the-agent.test.ts',
  'test/config/hostile.test.ts',
  'test/core/own-time-fuzz.test.ts',
  'test/kernel/{fuzz,module}.test.ts',
  'test/repository/{examples,exports,recipes,sink-recipe,source-recipe,stat-recipe,time-form}.test.ts',
  'test/shaping/{redact,rows}/{engine-differential,hostile,linear,plain-pattern}.test.ts',
  'test/shaping/bytes/byte-shaping.test.ts',
  'test/sinks/archive/faults.test.ts',
  'test/sinks/ingest/http/chaos.test.ts',
  'test/sources/file/model/**',
  'test/sources/file/{copies-at-any-speed,joining-random,links,nth-call,other-file-system,rest-of-line,schedule,truncation-races,undecided}.test.ts',
  'test/sources/group-random.test.ts',
  'test/sources/syslog/{loops,octet-counts,unfinished}.test.ts',
  'test/state/{nth-call,nth-syscall}.test.ts',
];

export default defineConfig({
  ...config,
  test: { ...config.test, include, exclude: [...config.test!.exclude!, ...SLOW] },
});
