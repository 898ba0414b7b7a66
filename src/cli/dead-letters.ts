/**
 * `tailrace dead-letters list|show|replay|drop`: what the service refused, and sending it again. Listing reads the files and
 * works beside a running agent; replay and drop go through it, or do the work themselves where none runs.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startAgent } from '../agent/start-agent.ts';
import { askAgent } from '../agent/control/control.ts';
import type { ReplayResult } from '../agent/control/replay.ts';
import { findConfig } from '../config/load/find.ts';
import { loadConfig, loadWithoutSecrets } from '../config/load/load.ts';
import type { Config } from '../config/model.ts';
import { printable } from '../config/quote.ts';
import { messageOf, TailraceError } from '../core/errors.ts';
import { whenAborted } from '../core/time/clock.ts';
import { openState } from '../state/database/store.ts';
import { DeadLetters, formatLetter, type Letter, type LetterIndex } from '../state/dead-letters.ts';
import { lockFolder } from '../state/lock.ts';
import { createLog } from '../telemetry/log.ts';
import { plural, say, usageError } from './output/say.ts';
import type { ArgumentsOf } from './options/command-options.ts';

const ACTIONS = ['list', 'show', 'replay', 'drop'] as const;
type LetterAction = (typeof ACTIONS)[number];

/** Resolves with the exit code: 0 done, 1 something could not be read or sent again. Throws `TailraceError`. */
export async function deadLetters(
  action: string,
  ids: readonly string[],
  args: ArgumentsOf<'dead-letters'>,
): Promise<number> {
  checkUsage(action, ids, args);
  const file = findConfig(args.config);
  const config = loadWithoutSecrets(file, process.env);
  switch (action) {
    case 'list':
      return list(config, ids, args.json ?? false);
    case 'show':
      return list(config, ids, true);
    case 'replay':
      return replay(config, file, ids, args);
    case 'drop':
      return drop(config, ids);
  }
}

/** Checked before the configuration is loaded: these mistakes do not depend on it. */
function checkUsage(
  action: string,
  ids: readonly string[],
  { all, sink }: ArgumentsOf<'dead-letters'>,
): asserts action is LetterAction {
  if (!ACTIONS.some((known) => known === action))
    throw usageError(`dead-letters does not know "${action}"`, 'use list, show, replay or drop');
  if (action === 'show' && ids.length === 0)
    throw usageError('show needs the id of a dead letter', 'tailrace dead-letters list shows the ids');
  if (action === 'drop' && ids.length === 0 && all !== true)
    throw usageError('drop removes dead letters for good, so it needs their ids', 'name them, or give --all');
  if (action !== 'replay' && sink !== undefined)
    throw usageError(`--sink is for replay, not for ${action}`, 'leave it out');
}

function list(config: Config, ids: readonly string[], json: boolean): number {
  const letters = lettersOf(config);
  let events = 0;
  let unread = 0;
  for (const { id } of letters.files()) {
    if (ids.length > 0 && !ids.includes(id)) continue;
    const found = read(letters, id);
    if (!found) unread += 1;
    for (const letter of found ?? []) {
      events += 1;
      const { time, source, file, offset, reason } = letter.about;
      // The reason is the service's, and the file's name anybody's.
      const text = `${id}  ${time}  ${source}${file === '' ? '' : `  ${file} (byte ${offset})`}  ${reason}`;
      const line = json ? formatLetter(id, letter) : printable(text);
      process.stdout.write(`${line}\n`);
    }
  }
  const none =
    ids.length > 0
      ? 'No dead letters with these ids; tailrace dead-letters list shows those that are there.'
      : 'No dead letters.';
  if (events + unread === 0 && (!json || ids.length > 0)) say(none);
  else if (!json || unread > 0) {
    const missing = unread > 0 ? `, and ${plural(unread, 'file')} of dead letters could not be read` : '';
    say(`${plural(events, 'dead letter')}${missing}; replay sends them again, drop removes them for good.`);
  }
  return unread > 0 || (ids.length > 0 && events === 0) ? 1 : 0;
}

/** The letters of one file; undefined, with a line on stderr, where they cannot be read. */
function read(letters: DeadLetters, id: string): readonly Letter[] | undefined {
  try {
    return letters.read(id) ?? [];
  } catch (error) {
    say(messageOf(error));
    if (error instanceof TailraceError && error.fix !== undefined) say(`  fix: ${error.fix}`);
    return undefined;
  }
}

async function replay(
  { dataDir, sinks }: Config,
  file: string,
  ids: readonly string[],
  { json, sink }: ArgumentsOf<'dead-letters'>,
): Promise<number> {
  const names = sinks.map(({ id }) => id);
  if (sink !== undefined && !names.includes(sink))
    throw usageError(`no sink of the configuration has the id "${sink}"`, `use one of ${names.join(', ')}`);
  const asked =
    sink === undefined ? { command: 'replay', args: ids } : { command: 'replay-through', args: [sink, ...ids] };
  const answer = await askAgent(dataDir, asked);
  const result = answer ? (answer.result as ReplayResult) : await replayAlone(loadConfig(file, process.env), ids, sink);
  if (!result) return 1;
  const { unreadable } = result;
  if (json) process.stdout.write(`${JSON.stringify(result)}\n`);
  else
    process.stdout.write(
      `${plural(result.replayed - result.refused, 'event')} delivered, ${result.refused} refused again, ${plural(result.skipped.length, 'id')} not found or without a sink${unreadable.length > 0 ? `, ${plural(unreadable.length, 'id')} could not be read: tailrace dead-letters list says why` : ''}\n`,
    );
  return result.refused + result.skipped.length + unreadable.length === 0 ? 0 : 1;
}

/** Sends them without a running agent. Undefined where the service refuses (a line on stderr), or a signal comes first; nothing is lost. */
async function replayAlone(
  config: Config,
  ids: readonly string[],
  sink: string | undefined,
): Promise<ReplayResult | undefined> {
  const log = await createLog({ level: 'warn' });
  const agent = await startAgent({ config, once: true, log, sinksOnly: true });
  const deadline = new AbortController();
  const onSignal = () => deadline.abort();
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    return await Promise.race([
      agent.replay(ids, sink),
      agent.ended.then(() => undefined),
      whenAborted(deadline.signal).then(() => undefined),
    ]);
  } finally {
    deadline.abort();
    const { failure } = await agent.stop(deadline.signal);
    if (failure !== undefined) say(`tailrace: ${failure}; the dead letters are kept`);
  }
}

async function drop(config: Config, ids: readonly string[]): Promise<number> {
  const known = new Set(
    lettersOf(config)
      .files()
      .map(({ id }) => id),
  );
  const answer = await askAgent(config.dataDir, { command: 'drop', args: ids });
  const removed = answer ? (answer.result as { removed: number }).removed : await dropAlone(config, ids);
  for (const id of removed < ids.length ? ids : [])
    if (!known.has(id))
      say(
        `tailrace: no dead letter has the id ${JSON.stringify(id)}`,
        '  fix: tailrace dead-letters list shows the ids',
      );
  process.stdout.write(`the dead letters of ${plural(removed, 'id')} removed\n`);
  return ids.length === 0 || removed === ids.length ? 0 : 1;
}

/** Without a running agent; never beside a command that is replaying them. */
async function dropAlone(config: Config, ids: readonly string[]): Promise<number> {
  const { dataDir: folder } = config;
  if (!existsSync(join(folder, 'state.db'))) {
    const lock = existsSync(folder) ? lockFolder(folder) : undefined;
    const removed = lettersOf(config).drop(ids);
    lock?.release();
    return removed;
  }
  const state = openState({ folder, sinksOf: () => [], log: await createLog({ level: 'warn' }) });
  try {
    return lettersOf(config, state.letters).drop(ids);
  } finally {
    state.close();
  }
}

function lettersOf({ dataDir }: Config, index?: LetterIndex): DeadLetters {
  return new DeadLetters(join(dataDir, 'dead-letters'), Infinity, 'block', index);
}
