/** The built-in presets on their own tests (presets/), and what a source may write beside one. test/e2e/presets.test.ts runs those that Debian has. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { Previewer } from '../../src/agent/preview/previewer.ts';
import { presetTarget } from '../../src/cli/preview/preset-target.ts';
import { NO_PRESETS, PRESET_NAMES } from '../../src/config/presets/preset.ts';
import { silentLog } from '../../src/core/log.ts';
import { make } from './made.ts';

const ROOT = join(import.meta.dirname, '../../presets');
const READ = '2026-11-22T18:00:00.500Z';
const UID = '0a1b2c3d-1111-2222-3333-444455556666';

interface Sample {
  readonly name: string;
  readonly zone: string;
  readonly isShaped: boolean;
  readonly input: readonly string[];
  readonly expect: readonly Record<string, unknown>[];
  readonly file?: string;
}

interface Row {
  readonly time?: unknown;
  readonly transform?: string;
  readonly tests: readonly Omit<Sample, 'name' | 'zone' | 'isShaped'>[];
}

const SAMPLES = globSync('*/*.yaml', { cwd: ROOT }).flatMap((file) =>
  Object.entries(parse(readFileSync(join(ROOT, file), 'utf8')) as Record<string, Row>).flatMap(
    ([name, { time, transform, tests }]) =>
      tests.map((each): Sample => ({
        name,
        zone: time === undefined ? '\ntime: {timezone: UTC}' : '',
        isShaped: transform !== undefined,
        ...each,
      })),
  ),
);

test('each file in presets/ is a preset, and each preset has one', () => {
  expect([...new Set(SAMPLES.map(({ name }) => name))].toSorted()).toEqual(PRESET_NAMES.toSorted());
});

const PLAIN = SAMPLES.filter(({ isShaped }) => !isShaped);

test.each(PLAIN)('$name: $input', async ({ name, zone, input, expect: wanted, file }) => {
  const { events, stats } = await make(`preset: ${name}${zone}`, input.join('\n'), file === undefined ? {} : { file });
  expect(events.map(({ file: _file, ...event }) => event)).toEqual(wanted);
  expect([stats.typeErrors, stats.timeErrors]).toEqual([undefined, undefined]);
});

// Transforms run where events are sent.
test.each(SAMPLES.filter(({ isShaped }) => isShaped))(
  '$name, with its transform: $input',
  async ({ name, input, expect: wanted }) => {
    const sent: string[] = [];
    const target = presetTarget(name, NO_PRESETS);
    const previewer = await Previewer.create({
      ...target,
      log: silentLog,
      record: (event) => void sent.push(...event.sent),
    });
    await previewer.read(undefined, Readable.from([Buffer.from(`${input.join('\n')}\n`)]));
    await previewer.close();
    expect(
      sent.map((line) => JSON.parse(line) as object).map(({ host: _host, ...event }: { host?: string }) => event),
    ).toEqual(wanted);
  },
);

test('keys beside a preset win; types and path_fields merge by name', async () => {
  const line = '2026/11/22 16:08:49 [error] 17#18: *9 x';
  const { events } = await make('preset: nginx-error\ntypes: {pid: text, level: text}\ntime: read', line);
  expect(events[0]).toMatchObject({ _time: READ, pid: '17', tid: 18, connection: 9 });
  const { events: text } = await make('preset: nginx-error\nformat: text\ntypes: {}\nparse_json: true', line);
  expect(text[0]).toMatchObject({ message: line });
  const { events: own } = await make("preset: nginx-error\nregex: '^(?<day>\\S+) (?<rest>.*)$'", line);
  expect(own[0]).toMatchObject({ day: '2026/11/22' });
  const path = `/var/log/pods/shop_web_${UID}/app/0.log`;
  const { events: pod } = await make(
    "preset: kubernetes\npath_fields: '^/var/(?<pod>log)/'",
    '2026-11-22T16:08:49Z stdout F x',
    {
      file: path,
    },
  );
  expect(pod[0]).toMatchObject({ pod: 'log', namespace: 'shop', container: 'app' });
});

// Symptom: an old auth.log had events two weeks ahead. Cause: a date without a year could be up to 31 days ahead, and presets took any year.
const AHEAD: [preset: string, line: string, time: string, isError: boolean][] = [
  ['auth', 'Dec 10 06:55:46 host1 sshd[24200]: Invalid user', '2025-12-10T06:55:46Z', false],
  ['syslog-file', 'Nov 23 18:00:01 host1 cron[1]: x', '2025-11-23T18:00:01Z', false],
  ['syslog-file', 'Nov 23 18:00:00 host1 cron[1]: x', '2026-11-23T18:00:00Z', false],
  ['klog', 'E1210 06:55:46.1 1 a.go:1] x', '2025-12-10T06:55:46.1Z', false],
  ['log4j', '2099-01-01 10:00:00,1 INFO x', READ, true],
  ['nginx-access', '10.0.0.7 - - [05/Mar/2099:16:08:49 +0000] "GET /a HTTP/1.1" 200 7', READ, true],
  ['kubernetes', '2099-11-22T16:08:49.123Z stderr F x', READ, true],
  ['docker', '{"log":"x\\n","stream":"stdout","time":"2099-11-22T16:08:49.123Z"}', READ, true],
];

test.each(AHEAD)('%s: no time is ahead of the read: %s', async (preset, line, time, isError) => {
  const { events, stats } = await make(`preset: ${preset}\ntime: {timezone: UTC}`, line);
  expect(events[0]).toMatchObject({ _time: time, ...(isError ? { time_error: expect.any(String) } : {}) });
  expect(stats.timeErrors).toBe(isError ? 1 : undefined);
});

// Symptom: the time of the line went to the service as it was written. Cause: `time: read` read none, and left the text of a preset in its place.
test.each(PLAIN)('$name: time: read wins: $input', async ({ name, input, expect: wanted, file }) => {
  const { events } = await make(`preset: ${name}\ntime: read`, input.join('\n'), file === undefined ? {} : { file });
  expect(events.map(({ file: _file, ...event }) => event)).toEqual(wanted.map((event) => ({ ...event, _time: READ })));
});
