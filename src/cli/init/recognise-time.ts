/** Finds out where the time of a log's events is, and in which zone it is written. */
import { unknownZonesIn } from '../../agent/preview/unknown-zones.ts';
import type { LogFile } from './look-into.ts';
import type { TriedEvent, Trials } from './trials.ts';

/** A program writes its last line about when the file changed. */
const LATEST_MS = 5 * 60_000;
/** Far from every other zone: a time that names its zone is the same in both. */
const FAR_ZONE = 'Pacific/Kiritimati';

/** A choice that `init` made, and why. */
export interface Choice {
  /** `preset: nginx-access`, as in a configuration. */
  readonly entry: string;
  readonly reason: string;
}

export interface RecognisedTime {
  readonly choices: readonly Choice[];
  readonly hasOwnTime: boolean;
  readonly remarks: readonly string[];
}

/** `keys` are those chosen so far. */
export async function recogniseTime(file: LogFile, keys: string, trials: Trials): Promise<RecognisedTime> {
  const inUtc = await trials.run(`${keys}, time: {timezone: UTC}`, file.path, file.head);
  const own = inUtc.filter(({ hasOwnTime }) => hasOwnTime).length;
  if (own * 2 < inUtc.length) return findField(file, keys, inUtc, trials);
  const far = await trials.run(`${keys}, time: {timezone: ${FAR_ZONE}}`, file.path, file.head);
  if (far.every(({ timeMs }, index) => timeMs === inUtc[index]?.timeMs || !inUtc[index]?.hasOwnTime))
    return { choices: [], hasOwnTime: true, remarks: ['times name their zone'] };
  return { choices: [await chooseZone(file, keys, trials)], hasOwnTime: true, remarks: [] };
}

/** The zone in which the last line is about as old as the file's last change; else this machine's. */
async function chooseZone(file: LogFile, keys: string, trials: Trials): Promise<Choice> {
  const host = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const choose = (zone: string, why: string): Choice => ({
    entry: `time: {timezone: ${zone}}`,
    reason: `times name no zone: ${why}`,
  });
  for (const zone of new Set([host, 'UTC'])) {
    const events = await trials.run(`${keys}, time: {timezone: ${zone}}`, file.path, file.tail);
    const last = events.findLast(({ hasOwnTime }) => hasOwnTime);
    if (last && Math.abs(file.mtimeMs - last.timeMs) < LATEST_MS)
      return choose(
        zone,
        `in ${zone === host ? `${zone}, this machine's,` : zone} the last line is as old as the file's last change`,
      );
  }
  return choose(host, 'this machine’s is taken; correct it where the program writes another');
}

/** JSON whose time has a name of its own. */
async function findField(
  file: LogFile,
  keys: string,
  events: readonly TriedEvent[],
  trials: Trials,
): Promise<RecognisedTime> {
  for (const [key, value] of Object.entries(events[0]?.event ?? {})) {
    if (!/time|date|stamp|created|^ts|^at$/i.test(key) || key.startsWith('_') || !/^[\w@-]+$/.test(key)) continue;
    if (typeof value !== 'string' && typeof value !== 'number') continue;
    const tried = await trials.run(`${keys}, time: {field: '${key}'}`, file.path, file.head);
    if (tried.length > 0 && tried.every(({ hasOwnTime }) => hasOwnTime))
      return {
        choices: [{ entry: `time: {field: '${key}'}`, reason: `\`${key}\` holds the time of each event` }],
        hasOwnTime: true,
        remarks: [],
      };
  }
  const zones = new Set(events.flatMap(({ event }) => [...unknownZonesIn(event, 'UTC')]));
  const why = `their zone (${[...zones].join(', ')}) has no one offset; name it in \`time: {timezone: …}\``;
  const remark =
    zones.size > 0
      ? `times are not taken: ${why}`
      : 'lines carry no time that can be read: events have the time of the read';
  return { choices: [], hasOwnTime: false, remarks: [remark] };
}
