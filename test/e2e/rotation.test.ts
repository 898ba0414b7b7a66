/**
 * Rotation, truncation, deletion, exchange and compression by programs and people, under the real agent: the steps on disk, while the agent
 * runs, is stopped, was killed, or has no service, and the lines that must arrive. Every line arrives once, under the path that its file
 * was first matched by.
 */
import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeSite } from '../support/shipping.ts';
import { until } from '../support/until.ts';
import { AgentRig, agentScenarios, words } from './scenario.ts';
import { steps } from '../sources/file/steps.ts';

/**
 * Steps in folders side by side. `NAME@FILE`: lines written to NAME arrive as of FILE. A step after `?` needs a running agent, so that
 * files without a name in their folder can still be read; one after `!` needs a stopped one.
 */
const KINDS: Readonly<Record<string, { readonly before: string; readonly disk: string }>> = {
  'renamed twice before anybody looks, with lines in each generation': {
    before: 'twice/app.log one two',
    disk: `
      append twice/app.log "late in the first"; mv twice/app.log twice/app.log.1; append twice/app.log second
      mv twice/app.log.1 twice/app.log.2; mv twice/app.log twice/app.log.1
      append twice/app.log.2@twice/app.log "even later in the first"; append twice/app.log third`,
  },
  'renamed by date, as logrotate does with dateext': {
    before: 'date/app.log one two',
    disk: 'append date/app.log "before midnight"; mv date/app.log date/app.log-20261121; append date/app.log "after midnight"',
  },
  'named by the day': {
    before: 'dated/app-2026-11-21.log "day one"',
    disk: 'append dated/app-2026-11-21.log "day one, late"; append dated/app-2026-11-22.log "day two"',
  },
  'copied to a name that no pattern matches, and truncated': {
    before: 'copy/app.log one two',
    disk: 'append copy/app.log "before the copy"; cp copy/app.log copy/app.log.1; cut copy/app.log; append copy/app.log "after it"',
  },
  'truncated, and longer than before when it is looked at next': {
    before: 'regrown/app.log one two',
    disk: 'cut regrown/app.log; append regrown/app.log anew "and longer than what was there before it was truncated"',
  },
  'led to by a link that is pointed elsewhere': {
    before: 'link/first.out@link/current.log "first one"',
    disk: `
      ? append link/first.out@link/current.log "first, late"
      rm link/current.log; append link/second.out@link/current.log "second one"; link second.out link/current.log`,
  },
  'led to by a link, renamed twice beside the target': {
    before: 'pods/renamed@link/renamed.log one two',
    disk: `
      append pods/renamed@link/renamed.log "late in the first"; mv pods/renamed pods/renamed.1; append pods/renamed@link/renamed.log second
      mv pods/renamed.1 pods/renamed.2; mv pods/renamed pods/renamed.1; append pods/renamed@link/renamed.log third`,
  },
  'led to by a link, copied beside the target and truncated': {
    before: 'pods/copied@link/copied.log one two',
    disk: `
      append pods/copied@link/copied.log "before the copy"; cp pods/copied pods/copied.1; cut pods/copied
      append pods/copied@link/copied.log "after it"`,
  },
  'led to by a link that is removed': {
    before: 'pods/removed@link/removed.log one two',
    disk: 'append pods/removed@link/removed.log "before the link was removed"; rm link/removed.log',
  },
  'led to by a link that is pointed elsewhere, with the old target renamed': {
    before: 'pods/0@link/pointed.log one two',
    disk: `
      append pods/0@link/pointed.log "late in the first"; mv pods/0 pods/0.20261121-101500; rm link/pointed.log
      append pods/1@link/pointed.log second; link ../pods/1 link/pointed.log`,
  },
  'led to by a linked folder, which is pointed elsewhere': {
    before: '../releases/1/app.log@current/app.log one two',
    disk: `
      append ../releases/1/app.log@current/app.log "late in the first"; rm current
      append ../releases/2/app.log@current/app.log second; link ../releases/2 current`,
  },
  // With an agent's eye on it, even under the same inode with the same beginning.
  'deleted and made again': {
    before: 'again/app.log one two',
    disk: `
      ? append again/app.log "before the delete"
      rm again/app.log
      ? append again/app.log one two "in its place"
      ! append again/app.log "another file" "in its place"`,
  },
  'moved to another folder': {
    before: 'moved/app.log one two',
    disk: `
      ? append moved/app.log "before it was moved"
      mv moved/app.log ../elsewhere/kept; append moved/app.log "in its place"`,
  },
};

/** Plays steps of the table; records the lines written. */
async function playKind(rig: AgentRig, expected: string[], script: string, isWatched: boolean): Promise<void> {
  for (const line of script.split(/[;\n]/).map((each) => each.trim())) {
    const [, mark, step] = /^([?!]?) ?(.*)$/.exec(line)!;
    if (mark === (isWatched ? '!' : '?')) continue;
    const [, name, file, lines] = /^append ([^\s@]+)@?(\S*) (.*)$/.exec(step!) ?? [];
    for (const [, quoted, bare] of lines?.matchAll(/"([^"]*)"|(\S+)/g) ?? [])
      expected.push(`${file || name}: ${quoted ?? bare}`);
    await rig.play(name === undefined ? step! : `append ${name} ${lines}`);
  }
}

test.for([
  'while the agent runs',
  'while the service is away',
  'while the agent is stopped',
  'after a kill -9',
] as const)('rotation of every kind %s: every line once', async (when) => {
  const rig = new AgentRig(await makeSite(), { glob: '**/*.log' });
  const { service } = rig.site;
  const expected: string[] = [];
  const isWatched = when === 'while the agent runs' || when === 'while the service is away';
  for (const folder of [
    'twice',
    'date',
    'dated',
    'copy',
    'regrown',
    'link',
    'again',
    'moved',
    'pods',
    '../releases/1',
    '../releases/2',
    '../elsewhere',
  ])
    mkdirSync(rig.path(folder), { recursive: true });
  const play = async (script: string): Promise<void> => playKind(rig, expected, script, isWatched);
  for (const { before } of Object.values(KINDS)) await play(`append ${before}`);
  await rig.play('link first.out link/current.log; link ../releases/1 current');
  for (const name of ['renamed', 'copied', 'removed']) await rig.play(`link ../pods/${name} link/${name}.log`);
  await rig.play('link ../pods/0 link/pointed.log; start');
  const allStored = (): Promise<void> => until('every line is stored', () => service.stored.length >= expected.length);
  await allStored();
  if (when === 'while the agent is stopped') await rig.play('stop');
  if (when === 'after a kill -9') {
    await rig.play('saved mark.log; kill');
    expected.push('mark.log: mark');
  }
  if (when === 'while the service is away') await rig.play('away');
  for (const { disk } of Object.values(KINDS)) await play(disk);
  if (!isWatched) await rig.play('start');
  if (when === 'while the service is away') {
    await rig.play('asked');
    // Once more, with all of the first still held.
    await play('mv twice/app.log twice/app.log.3; append twice/app.log fourth');
    await rig.play('back');
  }
  await allStored();
  await rig.play('is source_lost_bytes_total = 0; stop');
  const arrived = Object.entries(rig.byFile).flatMap(([file, lines]) => lines.map((line) => `${file}: ${line}`));
  expect(arrived.toSorted()).toEqual(expected.toSorted());
  expect(service.misusedKeys).toEqual([]);
});

// Symptom: the unread end of a log behind a link was lost without a word when it was rotated in the target's folder while no agent ran, or
// the link was removed. Cause: inodes, copies and rotated files were looked for beside the link alone.
agentScenarios(
  Object.fromEntries(
    Object.entries({
      'renamed once': 'append ../pods/0 two; mv ../pods/0 ../pods/0.1; write ../pods/0 three',
      'renamed twice': `
        append ../pods/0 two; mv ../pods/0 ../pods/0.1; write ../pods/0 three; mv ../pods/0.1 ../pods/0.2; mv ../pods/0 ../pods/0.1
        write ../pods/0 four`,
      'copied and truncated': 'append ../pods/0 two; cp ../pods/0 ../pods/0.1; cut ../pods/0; append ../pods/0 three',
      'pointed elsewhere': 'append ../pods/0 two; rm app.log; write ../pods/1 three; link ../pods/1 app.log',
      removed: 'append ../pods/0 two; rm app.log',
    }).map(([change, disk]): [string, string] => {
      const lines = ['two', 'three', 'four'].filter((line) => disk.includes(line)).join(' ');
      return [
        `log behind a link, ${change} between two runs of --once: every line once`,
        `mkdir ../pods; write ../pods/0 one; link ../pods/0 app.log; once; stores one; ${disk}; once; stores one ${lines}; of app.log one ${lines}`,
      ];
    }),
  ),
);

/** Longer than a fingerprint. */
const BANNER = '#'.repeat(1500);
/** The content of each file, under its first name. */
const ALIKE: Readonly<Record<string, readonly string[]>> = {
  'short.log': ['a'],
  'shorter.log': ['b'],
  'empty.log': [],
  'twin-1.log': ['same', 'same'],
  'twin-2.log': ['same', 'same'],
  'banner-1.log': [BANNER, 'of the first'],
  'banner-2.log': [BANNER, 'of the second'],
  'bare-banner.log': [BANNER],
};
const each = (step: (name: string, texts: readonly string[]) => string): string =>
  Object.entries(ALIKE)
    .map(([name, texts]) => step(name, texts))
    .join('; ');
const swap = (one: string, other: string): string => `mv ${one} swapped; mv ${other} ${one}; mv swapped ${other}`;
agentScenarios(
  Object.fromEntries(
    ['stop', 'kill'].map((end) => [
      `files that are short, empty or alike keep their places over renames and a ${end}`,
      `${each((name, texts) => `write ${name} ${words(texts)}`)}; start; stores ${words(Object.values(ALIKE).flat())}; saved mark.log; ${end}
      ${each((name) => `append ${name} "late in ${name}"`)}
      ${swap('banner-1.log', 'banner-2.log')}; ${swap('twin-1.log', 'twin-2.log')}; mv short.log short.log.1; write short.log a; start
      stores ${words(Object.entries(ALIKE).flatMap(([name, texts]) => [...texts, `late in ${name}`]))} mark a
      ${each((name, texts) => `of ${name} ${words([...texts, `late in ${name}`])} ${name === 'short.log' ? 'a' : ''}`)}; of mark.log mark`,
    ]),
  ),
  { glob: '*.log*' },
);

const THIRD = `the third, made while no agent ran, ${'x'.repeat(200)}`;
agentScenarios(
  {
    'a new file under the inode of a deleted one is read whole, made while the agent has it closed and while it is stopped': steps`
      write app.log first; start; stores first; closed
      recreate app.log "the second, longer than the first, so that the old position lies in it" "and more"; count 3; stop
      recreate app.log ${[THIRD]} "and more"; start
      stores first "the second, longer than the first, so that the old position lies in it" "and more" ${[THIRD]} "and more"`,
  },
  { glob: '*.log*' },
);

const again = (line: string): string => `cp app.log new; append new "${line}"; mv new app.log`;
agentScenarios(
  {
    'stable_inodes: false reads on by path and content where a file has another inode at every look': `
      write app.log one; start; stores one; ${again('two')}; stores one two; ${again('three')}; stores one two three; stop
      ${again('four')}; start; stores one two three four`,
  },
  { source: 'stable_inodes: false' },
);
