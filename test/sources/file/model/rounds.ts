/** Many schedules, in rounds of child processes: what one process plays is bounded by what many agents leave in memory. */
import { join } from 'node:path';
import { tryNode } from '../../../support/run-node.ts';
import { COMPRESSED, type Coverage, LINKS } from './events.ts';

const CHILD = join(import.meta.dirname, 'child.ts');
/** Schedules of one process. */
const ROUND = 500;
/** A round takes seconds, and as many minutes to be shrunk. */
const DEADLINE_MS = 30 * 60_000;

/** Without, and with, the names that rotation makes, with compressed files, and through links. */
export const globs = ['*.log', '*.log*', COMPRESSED, LINKS] as const;
/** Compressed files take three times as long; half of the schedules show every pair with an event of links. */
const SHARES: Readonly<Record<string, number>> = { [COMPRESSED]: 1 / 4, [LINKS]: 1 / 2 };
/** Schedules of all globs for each of one whose share is whole. */
export const ALL_SHARES = globs.reduce((sum, glob) => sum + (SHARES[glob] ?? 1), 0);

export interface Rounds {
  /** Schedules of a glob whose share is whole. */
  readonly total: number;
  /** Of the first round; the others count on. */
  readonly seed: number;
  /** The folder that they are played in. */
  readonly parent: string;
  readonly coverage: Coverage;
  /** Says how many hold after each round. */
  readonly isLong: boolean;
}

/** Throws the command that plays the round again in which a schedule broke the promise. */
export async function playRounds(
  include: (typeof globs)[number],
  { total, seed: first, parent, coverage, isLong }: Rounds,
): Promise<void> {
  const most = Math.ceil(total * (SHARES[include] ?? 1));
  console.log(`${most} schedules with ${include} under ${parent}, TAILRACE_SEED=${first}`);
  for (let played = 0; played < most; played += ROUND) {
    const runs = Math.min(ROUND, most - played);
    const seed = (first + (played / ROUND) * globs.length + globs.indexOf(include)) % 2 ** 31;
    const { code, stdout, stderr } = await tryNode(
      [CHILD, String(runs), String(seed), include, parent],
      {},
      DEADLINE_MS,
    );
    if (code !== 0)
      throw new Error(`child.ts ${runs} ${seed} '${include}' ${parent} ended with ${code}: ${stdout}${stderr}`);
    coverage.addCounts(JSON.parse(stdout) as Record<string, number>);
    if (isLong) console.log(`${played + runs} of ${most} with ${include} hold, the last ${runs} of seed ${seed}`);
  }
}
