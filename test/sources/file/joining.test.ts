/** Plays the cases of `joining-cases.ts`, and those of joined lines that are no scenario. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { datedName } from '../../../src/sources/file/scan/rotated-names.ts';
import { LaneDouble } from '../lane-double.ts';
import { type AgentProcess, type Sent, startProcess } from './agent-process.ts';
import { aside, groups, kills, multiline, READ, REST, type Start, stepped } from './joining-cases.ts';
import { scenarios } from './scenario.ts';
import { hooked, makeFolder, StepClock, systemError, TailRig } from './tail-rig.ts';

for (const { options = {}, begin = '', cases } of groups)
  scenarios(cases, () => ({ multiline, ...(typeof options === 'function' ? options() : options) }), begin);

test('spans of an event over a rotation are read again as the same event, or by themselves', async () => {
  const rig = new TailRig({ multiline });
  await rig.play`write a.log Z "A one" " two"; start; drain; mv a.log a.log.1; write a.log " three" " four" B; drain`;
  const block = rig.lane.blocks.at(-1)!;
  const span = { source: 'app', stream: block.stream, from: 2, to: 13, events: 1, ...block.single! };
  const rest = { source: 'app', events: 0, ...block.continued![0]! };
  const lane = new LaneDouble();
  expect(await rig.source.reread!(span, lane, [rest])).toBe(span.to);
  expect(lane.events).toEqual(['A one\n two\n three\n four']);
  expect(lane.blocks[0]).toMatchObject({ single: block.single, continued: block.continued });
  const alone = new LaneDouble();
  expect(await rig.source.reread!(rest, alone)).toBe(rest.to);
  expect(alone.events).toEqual([' three\n four']);
  // By other rules it is no such event any more.
  await rig.start({ multiline: { ...multiline, maxLines: 3 } });
  expect(await rig.source.reread!(span, new LaneDouble(), [rest])).toBe(span.from);
  await rig.play`rm a.log; write a.log`;
  expect(await rig.source.reread!(span, new LaneDouble(), [{ ...rest, to: 100 }])).toBe(span.from);
});

test('files that are rotated away between being found and being opened are joined in the order in which they were made', async () => {
  const rig = new TailRig({ multiline: { ...multiline, timeoutMs: 60_000 } });
  const log = rig.path('a.log');
  await rig.play`write a.log "A one"; start; drain; mv a.log a.log.1; born; write a.log " two"`;
  rig.once('before', 'a.log', () => {
    for (const [n, text] of [' three\n', ' four\nB\n more\n'].entries()) {
      renameSync(log, `${log}.${n + 2}`);
      rig.bornNow();
      writeFileSync(log, text);
    }
    renameSync(log, `${log}.4`);
  });
  await rig.play`scan; born; write a.log " and more" C; drain; events "A one\n two\n three\n four" "B\n more\n and more"`;
});

test('files that are rotated away as soon as the one before them is opened are joined behind it', async () => {
  const rig = new TailRig({ multiline: { ...multiline, timeoutMs: 60_000 } });
  const log = rig.path('a.log');
  await rig.play`write a.log "A one"; start; drain; mv a.log a.log.1; born; write a.log " two"`;
  rig.once('after', 'a.log', () => {
    renameSync(log, `${log}.2`);
    rig.bornNow();
    writeFileSync(log, ' three\nB\n more\n');
    renameSync(log, `${log}.3`);
  });
  await rig.play`scan; born; write a.log " and more" C; drain; events "A one\n two\n three" "B\n more\n and more"`;
});

// Symptom: an event went on with lines that were written hours before it. Cause: the content of a file that was truncated after it was
// recognised, and before the files were put in their order, counted as old as that file, and older than the copies before it.
test('truncation at any moment of a start joins no event with lines of another one', async () => {
  const wrong: string[] = [];
  for (let nth = 1, isOver = false; !isOver; nth += 1) {
    const { times, ...options } = stepped();
    const rig = new TailRig({ times, ...options });
    await rig.run(
      `${READ}; commit; later 1000; ${aside(1, '" two" B')}; scan; later 1000; ${aside(2, '" three" C')}; scan; later 1000`,
    );
    const log = rig.path('a.log');
    let calls = 0;
    const after = (call: string): void => {
      if (call === 'read' || call === 'close' || (calls += 1) !== nth) return;
      times.copy(log, `${log}.3`);
      times.truncate(log);
      times.append(log, ' four\nD\n');
    };
    await rig.start({ fileSystem: hooked({ after }, times.fileSystem) });
    isOver = calls < nth;
    calls = Infinity;
    await rig.play`drain; pass 30`;
    const events = rig.events;
    const whole = ['A one\n two', 'B\n three', 'C\n four'];
    const lines = events.join('\n').split('\n').toSorted();
    const expected = (isOver ? 'A one\n two\nB\n three\nC' : `${whole.join('\n')}\nD`).split('\n').toSorted();
    const isWhole = events.every((event) => whole.includes(event) || !event.includes('\n'));
    if (!isWhole || lines.join() !== expected.join()) wrong.push(`${nth}: ${JSON.stringify(events)}`);
  }
  expect(wrong).toEqual([]);
});

test.each([
  ['/l/app-20261121.log', '20261121', '/l/app-\0.log'],
  ['/2026-11-21/app.log', undefined, undefined],
  ['/l/2026.11.21_10:59.log', '2026.11.21_10:59', '/l/\0.log'],
  ['/l/app-202611211015.log', '202611211015', '/l/app-\0.log'],
  ['/l/app-2026-1121.log', undefined, undefined],
  ['/l/app-120261121.log', undefined, undefined],
  ['/l/app-1763700000.log', undefined, undefined],
])('date of %s is %s', (path, date, series) => {
  expect(datedName(path)).toEqual(date === undefined ? undefined : { date, series });
});

interface Site {
  readonly log: string;
  /** All that was sent since the last start. */
  readonly sent: Sent[];
  readonly refused: Set<string>;
  readonly first: Sent;
  readonly agent: AgentProcess;
  /** Kills the agent, and starts another one. */
  restart(maxLines?: number): Promise<AgentProcess>;
}

/** An agent that sent an event of two files, `A`, and what the second has after it but its last line. */
async function begun(after = 'B\n'): Promise<Site> {
  const folder = makeFolder();
  mkdirSync(join(folder, 'logs'));
  const log = join(folder, 'logs/a.log');
  const clock = new StepClock();
  const sent: Sent[] = [];
  const refused = new Set<string>();
  const before = (call: string, of: string | number): void => {
    if (call === 'open' && refused.has(of as string)) throw systemError('EACCES');
  };
  let agent: AgentProcess | undefined;
  const restart: Site['restart'] = async (maxLines = multiline.maxLines) => {
    await agent?.kill();
    sent.length = 0;
    const note = (each: Sent): void => void sent.push(each);
    const rules = { ...multiline, maxLines };
    return (agent = await startProcess({
      folder,
      clock,
      fileSystem: hooked({ before }),
      config: { multiline: rules },
      sent: note,
    }));
  };
  writeFileSync(log, 'Z\nA one\n');
  await restart();
  await agent!.poll();
  renameSync(log, `${log}.1`);
  writeFileSync(log, `${REST}\n${after}`);
  for (let n = 0; n < 3; n += 1) await agent!.poll();
  const first = sent.find(({ messages }) => messages.some((text) => text.startsWith('A')))!;
  expect(first.messages[0]).toBe(`A one\n${REST}`);
  return { log, sent, refused, restart, first, agent: agent! };
}

function change({ log, refused }: Site, act: NonNullable<Start['act']>): void {
  const [verb, name] = act.split(' ') as [string, string];
  const path = log.replace('a.log', name);
  if (verb === 'rm') rmSync(path);
  else if (verb === 'refuse') refused.add(path);
  else if (verb === 'allow') refused.delete(path);
  else {
    const bytes = readFileSync(path);
    bytes[1300] = 'y'.charCodeAt(0);
    writeFileSync(path, bytes);
  }
}

test.for(Object.entries(kills))('event of two files, under way at a kill, %s', async ([, starts]) => {
  const site = await begun();
  const keys = [site.first.key];
  for (const [n, { act, maxLines, sent, key, lostBytes = 0 }] of starts.entries()) {
    if (act) change(site, act);
    const agent = await site.restart(maxLines);
    const [only, ...others] = site.sent.filter(({ messages }) => messages.some((text) => /^A| two/.test(text)));
    expect(others, `start ${n}`).toEqual([]);
    if (sent === 'parts') {
      expect(only!.messages.length).toBeGreaterThan(1);
      expect(only!.messages.join('\n')).toBe(site.first.messages[0]);
    } else expect(only?.messages ?? [], `start ${n}`).toEqual(sent);
    if (key === 'first') expect(only!.key).toBe(site.first.key);
    if (key === 'same') expect(only!.key).toBe(keys.at(-1));
    if (key === 'new') expect(keys).not.toContain(only!.key);
    if (only) keys.push(only.key);
    expect(agent.lostBytes).toBe(lostBytes);
    expect(agent.log.find('error', 'cannot be read again now')).toHaveLength(act === 'refuse a.log' ? 1 : 0);
    if (key === 'first')
      expect(agent.log.lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
  }
});

test('parts of a batch that was split cover its events alone: the rest of these is sent whole, under another key', async () => {
  const site = await begun('B\nC\nD\n');
  const { agent, first, log } = site;
  const ofB = (): Sent[] => site.sent.filter(({ messages }) => messages.includes('B'));
  expect(first.messages.slice(1)).toEqual(['B', 'C']);
  agent.split(
    agent.held.find(({ key }) => key === first.key)!,
    1,
  );
  await site.restart();
  const [part] = ofB();
  expect(part!.messages).toEqual(['B', 'C']);
  expect(part!.key).not.toBe(first.key);
  rmSync(`${log}.1`);
  await site.restart();
  const [whole] = ofB();
  expect(whole!.messages).toEqual([REST, 'B', 'C']);
  expect([first.key, part!.key]).not.toContain(whole!.key);
  await site.restart();
  expect(ofB()).toEqual([whole]);
});
