/** The real agent with pipelines between its files and the service. */
import { appendFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { command, configure, listDeadLetters, outcomes, startShipping, test, writeLines } from '../support/shipping.ts';
import { until } from '../support/until.ts';
import { reloadVersions, SINK, sourceOf, surviveKills } from './transforms.ts';

const TIME = ',"_time":"2026-11-22T10:00:00Z"';
/** A line as pino writes it, with spaces where a careful reader would keep them. */
const pinoLine = (seq: number): string =>
  `{"level":${seq % 2 === 0 ? 20 : 30}, "seq":${seq},"id":12345678901234567890,"rt":1.50,"req":{"url":"/a", "headers":{"authorization":"Bearer s3cret"}}${TIME}}`;

test('pipeline drops, hides, renames and adds; what it does not name keeps its bytes', async ({ site }) => {
  writeLines(site, 100, pinoLine);
  const pipeline = '"where level != 20 | project-away req.headers | project-rename code=level | extend env=\\"prod\\""';
  const agent = startShipping(site, { sources: { app: sourceOf(site, pipeline) }, sink: SINK });
  await until('all is stored', () => site.service.stored.length === 50);
  expect(site.service.stored.toSorted()[0]).toBe(
    `{"seq":1,"id":12345678901234567890,"rt":1.50,"req":{"url":"/a"}${TIME},"code":30,"env":"prod"}`,
  );
  expect(site.service.stored.join('')).not.toContain('s3cret');
  await until('it is settled', async () => (await outcomes(agent))['held'] === 0);
  expect(await outcomes(agent)).toEqual({
    accepted: 100,
    delivered: 50,
    dead_lettered: 0,
    dropped: 0,
    filtered: 50,
    held: 0,
    errors: 0,
  });
  expect(await agent.end()).toBe(0);
});

test('empty lines alone go through a pipeline: nothing is sent, and reading goes on', async ({ site }) => {
  writeFileSync(site.log, '\n\r\n\n');
  const agent = startShipping(site, { sources: { app: sourceOf(site, 'extend a = 1') }, sink: SINK });
  await agent.says('tailrace runs');
  writeLines(site, 1);
  await until('the line is stored', () => site.service.stored.length === 1);
  expect(await agent.end()).toBe(0);
});

test('transforms run in their order: of the source, at the top, of the sink', async ({ site }) => {
  writeLines(site, 1);
  const agent = startShipping(site, {
    top: 'transform: extend a = strcat(a, "top ")',
    sources: { app: sourceOf(site, '\'extend a = "source "\'') },
    sink: `${SINK}, transform: 'extend a = strcat(a, "sink")'`,
  });
  await until('it is stored', () => site.service.stored.length === 1);
  expect(JSON.parse(site.service.stored[0]!)).toMatchObject({ seq: 0, a: 'source top sink' });
  expect(await agent.end()).toBe(0);
});

test('pipeline that filters everything sends nothing, passes the mark, and a restart reads nothing again', async ({
  site,
}) => {
  writeLines(site, 1000);
  const options = { sources: { app: sourceOf(site, "'where seq < 0'") }, sink: SINK };
  const agent = startShipping(site, options);
  await until('it is settled', async () => (await outcomes(agent))['filtered'] === 1000);
  expect(await agent.end()).toBe(0);
  const again = startShipping(site, options);
  writeLines(site, 1);
  await until('the new line is read', async () => (await outcomes(again))['filtered'] === 1);
  expect(await outcomes(again)).toMatchObject({ accepted: 1, delivered: 0, held: 0 });
  expect(await again.end()).toBe(0);
  expect(site.service.requests).toEqual([]);
});

test('errors of a pipeline are reported at their place in the block, all at once, by check and by run', async ({
  site,
}) => {
  writeLines(site, 1);
  const config = configure(site, { sources: { app: sourceOf(site) } });
  writeFileSync(
    config,
    `data_dir: ${site.folder}/agent
sources:
  app:
    type: file
    include: ["${site.folder}/logs/*.log"]
    transform: |
      where level != "debug"
        | extend x = tolowr(level)
      | summarize count()
sinks:
  store: {type: ingest, url: "${site.url}", dataset: logs, transform: 'where it''s wrong'}
`,
  );
  for (const verb of ['check', 'run']) {
    const program = await command(site, verb);
    expect(program.code).toBe(2);
    expect(program.stderr()).toMatch(/tailrace\.yaml:8:22: .*tolowr/);
    expect(program.stderr()).toMatch(/tailrace\.yaml:9:9: .*summarize/);
    expect(program.stderr()).toMatch(/tailrace\.yaml:11:\d+: /);
  }
});

test.for([
  ['deterministic', 'where seq % 3 != 0 | extend read = now()'],
  ['random', 'where seq % 3 != 0 | extend drawn = rand()'],
])('no key stands for two lists of events through kills, with a %s pipeline', async ([, pipeline], { site }) => {
  await surviveKills(site, `'${pipeline}'`, ['stored', 'lost', 'stored']);
});

test('reload takes a changed pipeline into force', async ({ site }) => {
  const agent = startShipping(site, { sources: { app: sourceOf(site, "'extend version = 1'") }, sink: SINK });
  await reloadVersions(site, agent, (to) =>
    configure(site, { sources: { app: sourceOf(site, `'extend version = ${to === 2 ? 2 : ''}'`) }, sink: SINK }),
  );
});

test.for([
  ['kept with the reason', false],
  ['a dead letter where it hides something', true],
] as const)('event that a pipeline makes too large is %s', async ([, hides], { site }) => {
  const grow = 'strcat(message, message, message, message, message, message, message, message)';
  const pipeline = `'extend message = ${grow} | extend message = ${grow}${hides ? ' | project-away secret' : ''}'`;
  appendFileSync(site.log, `${'x'.repeat(300_000)}\nshort\n`);
  const agent = startShipping(site, { sources: { app: sourceOf(site, pipeline) }, sink: SINK });
  await until(
    'it is settled',
    async () => (await outcomes(agent))['accepted'] === 2 && (await outcomes(agent))['held'] === 0,
  );
  expect(await outcomes(agent)).toMatchObject({ delivered: hides ? 1 : 2, dead_lettered: hides ? 1 : 0, errors: 1 });
  const letters = hides ? await listDeadLetters(site).catch(() => []) : [];
  expect(site.service.stored.filter((event) => event.includes('transform_error'))).toHaveLength(hides ? 0 : 1);
  expect(letters.length).toBeLessThanOrEqual(1);
  expect(await agent.end()).toBe(0);
});

test('cut JSON lines of a pipeline that hides are dead letters: oversized, in parts, unfinished, and what follows those', async ({
  site,
}) => {
  const secret = (n: number, more = ''): string => `{"password":"s3cret","seq":${n}${more}`;
  const long = `,"x":"${'x'.repeat(9000)}"}`;
  appendFileSync(
    site.log,
    `${secret(1)}}\n${secret(2, long)}\ntext 3\n${'t'.repeat(9000)}\n${secret(4)} no json\n{"seq":5,"password":`,
  );
  const source = `{type: file, include: ["${site.folder}/logs/*.log*"], scan_interval: 100ms, partial_timeout: 500ms, max_event_bytes: 4KiB, on_oversize: split, transform: project-away password}`;
  const agent = startShipping(site, { sources: { app: source }, sink: SINK });
  await until('the unfinished line is held back', async () => (await outcomes(agent))['dead_lettered'] === 5);
  appendFileSync(site.log, '"s3cret"}\n{"seq":6,"password":"s3cret"}\n');
  await until('what follows it is, too', async () => (await outcomes(agent))['dead_lettered'] === 6);
  await until(
    'the rest is stored',
    async () => (await outcomes(agent))['held'] === 0 && site.service.stored.some((event) => event.includes('"seq":6')),
  );
  expect(site.service.stored.join('')).not.toContain('s3cret');
  expect(await outcomes(agent)).toMatchObject({
    accepted: 12,
    delivered: 6,
    dead_lettered: 6,
    dropped: 0,
    filtered: 0,
  });
  expect(await agent.end()).toBe(0);
  const listed = (await command(site, 'dead-letters', 'list', '--json')).stdout().trim().split('\n');
  expect(listed).toEqual(Array.from({ length: 6 }, () => expect.stringContaining('cut line or invalid JSON')));
  expect(agent.stderr() + agent.stdout()).not.toContain('s3cret');
});
