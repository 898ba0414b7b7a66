/** `tailrace tap` beside a real agent. */
import { expect } from 'vitest';
import { addressOf, command, QUICK, startShipping, test, writeLines } from '../support/shipping.ts';
import { startProgram } from '../support/program.ts';
import { until } from '../support/until.ts';

interface Tapped {
  readonly source: string;
  readonly before: Record<string, unknown>;
  readonly events: readonly Record<string, unknown>[];
  readonly datasets?: readonly string[];
}

test('tap shows live events before and after their transform, and leaves the events sent alone', async ({ site }) => {
  const app = `{type: file, include: ["${site.folder}/logs/*.log"], scan_interval: 100ms, transform: 'where level != "debug" | project-away secret | to_dataset("audit")'}`;
  const agent = startShipping(site, { sink: QUICK, sources: { app, pipe: '{type: stdin}' }, stdin: 'pipe' });
  await addressOf(agent);
  const args = ['tap', 'app', '--count', '6', '--seconds', '60', '--json', '--config', `${site.folder}/tailrace.yaml`];
  const tap = startProgram(args);
  let written = 0;
  await until('the tap has its events', () => {
    if (tap.process.exitCode === null) {
      written += 2;
      writeLines(
        site,
        2,
        (seq) => `{"seq":${seq},"level":"${seq === 0 ? 'debug' : 'info'}","secret":"x","_time":"2026-05-01T10:00:00Z"}`,
      );
    }
    return tap.process.exitCode !== null;
  });
  expect(await tap.exited).toBe(0);
  const tapped = tap
    .stdout()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Tapped);
  expect(tapped).toHaveLength(6);
  for (const { source, before, events, datasets } of tapped) {
    expect([source, before['secret']]).toEqual(['app', 'x']);
    expect(datasets).toEqual(before['seq'] === 0 ? [] : ['audit']);
    expect(events).toEqual(before['seq'] === 0 ? [] : [{ seq: 1, level: 'info', _time: '2026-05-01T10:00:00Z' }]);
  }
  expect(new Set(tapped.map(({ before }) => before['seq']))).toEqual(new Set([0, 1]));
  await until('all is stored once', () => site.service.stored.length === written / 2);
  const misspelt = await command(site, 'tap', 'ap');
  expect([misspelt.code, misspelt.stderr()]).toEqual([2, expect.stringContaining('did you mean "app"?')]);
  const quiet = await command(site, 'tap', 'pipe', '--seconds', '1');
  expect([quiet.code, quiet.stdout(), quiet.stderr()]).toEqual([0, '', 'no event came within 1 s\n']);
  await agent.end();
  const gone = await command(site, 'tap');
  expect([gone.code, gone.stderr()]).toEqual([1, expect.stringContaining('no agent runs')]);
});
