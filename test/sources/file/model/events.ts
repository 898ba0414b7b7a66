/** The events, random schedules of them, and which came right after which. */
import * as fc from 'fast-check';
import type { Mood } from './store.ts';

/** What applications, logrotate and people do to a file; one that is not there is written first. `file` is its number. */
const FILE_EVENTS = [
  'partial',
  'late append',
  'rename',
  'regrow',
  'refill',
  'reserve',
  'truncate',
  'delete',
  'recreate',
  'compress',
] as const;
/** The link through which a file is read is pointed to another file, or removed; what happens to the file goes on where it led last. */
const LINK_EVENTS = ['retarget', 'unlink'] as const;
/** Acts on the agent; one that is not running is started first. */
const AGENT_EVENTS = ['scan', 'wait', 'deliver', 'save', 'stop', 'restart'] as const;

/**
 * The report of a folder's watch about all changes since the last one: everything, the first of it, everything and the last report once
 * more, nothing ever, or a change without a name.
 */
const TOLD = ['all', 'first', 'again', 'nothing', 'overflow'] as const;

/** The watch's report to a running agent before the truncation: nothing, half of the copy, the copy, or the copy and later lines. */
const SEEN = ['no', 'half', 'whole', 'more'] as const;

export type Event =
  | { readonly kind: (typeof FILE_EVENTS)[number] | (typeof LINK_EVENTS)[number]; readonly file: number }
  | { readonly kind: 'append'; readonly file: number; readonly lines: number }
  /** So many lines are written between the copy and the truncation. */
  | {
      readonly kind: 'copytruncate';
      readonly file: number;
      readonly lines: number;
      readonly seen?: (typeof SEEN)[number];
    }
  | { readonly kind: (typeof AGENT_EVENTS)[number] }
  /** A watch reports to a running agent, which looks at the reported names; no scan is due. */
  | { readonly kind: 'wake'; readonly told: (typeof TOLD)[number] }
  /** After so many of its calls to the system and requests, from the next scan on; 0: at rest. */
  | { readonly kind: 'kill'; readonly after: number }
  /** The service does so from now on. */
  | { readonly kind: Mood };

const MOODS: readonly Mood[] = ['answer', 'refuse', 'hang', 'lose replies', 'refuse half'];
const KINDS: readonly Event['kind'][] = [
  'append',
  ...FILE_EVENTS,
  'copytruncate',
  ...LINK_EVENTS,
  ...AGENT_EVENTS,
  'wake',
  'kill',
  ...MOODS,
];

/** The globs of a schedule: names, or all names and compressed files, or links that lead to another folder. */
export const COMPRESSED = 'compressed';
export const LINKS = 'links';

const file = fc.nat({ max: 1 });
const of = <const K extends string>(...kinds: K[]): fc.Arbitrary<K> => fc.constantFrom(...kinds);
const events: readonly { readonly weight: number; readonly arbitrary: fc.Arbitrary<Event> }[] = [
  {
    weight: 4,
    arbitrary: fc.record({
      kind: of('append'),
      file,
      lines: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 150 })),
    }),
  },
  { weight: 10, arbitrary: fc.record({ kind: of(...FILE_EVENTS), file }) },
  { weight: 9, arbitrary: fc.record({ kind: of(...AGENT_EVENTS, 'scan', 'wait') }) },
  { weight: 4, arbitrary: fc.record({ kind: of('wake'), told: fc.constantFrom(...TOLD, 'all' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: of('kill'), after: fc.oneof(fc.constant(0), fc.nat({ max: 60 })) }) },
  { weight: 5, arbitrary: fc.record({ kind: of(...MOODS) }) },
];
const linkEvents = { weight: 5, arbitrary: fc.record({ kind: of(...LINK_EVENTS, 'retarget'), file }) };

/** With the events of links where files are read through these; there no watch tells of a copy before the truncation. */
export function schedulesOf(include: string): fc.Arbitrary<readonly Event[]> {
  const seen = include === LINKS ? of('no') : of('no', 'half', 'whole');
  const copying = {
    weight: 3,
    arbitrary: fc.record({ kind: of('copytruncate'), file, lines: fc.constantFrom(0, 3), seen }),
  };
  const event = fc.oneof(...events, copying, ...(include === LINKS ? [linkEvents] : []));
  return fc.array(event, { minLength: 1, maxLength: 40, size: 'max' });
}

/** How often each kind of event came right after each other one. */
export class Coverage {
  readonly #pairs = new Map<string, number>();

  add(schedule: readonly Event[]): void {
    for (const [index, { kind }] of schedule.entries())
      if (index > 0) this.addCounts({ [pairOf(schedule[index - 1]!.kind, kind)]: 1 });
  }

  /** Adds what another one has, by pairs. */
  addCounts(counts: Readonly<Record<string, number>>): void {
    for (const [pair, count] of Object.entries(counts)) this.#pairs.set(pair, (this.#pairs.get(pair) ?? 0) + count);
  }

  toJSON(): Record<string, number> {
    return Object.fromEntries(this.#pairs);
  }

  /** Pairs that never came. Each can: what an event needs is there or is made. */
  get missing(): string[] {
    return KINDS.flatMap((before) =>
      KINDS.flatMap((kind) => (this.#count(before, kind) > 0 ? [] : [pairOf(before, kind)])),
    );
  }

  toString(): string {
    const row = (name: string, cells: readonly (number | string)[]): string =>
      name.padEnd(13) + cells.map((cell) => String(cell).slice(0, 5).padStart(6)).join('');
    const counts = KINDS.map((before) =>
      row(
        before,
        KINDS.map((kind) => this.#count(before, kind)),
      ),
    );
    return [row('first, then', KINDS), ...counts].join('\n');
  }

  #count(before: string, kind: string): number {
    return this.#pairs.get(pairOf(before, kind)) ?? 0;
  }
}

function pairOf(before: string, kind: string): string {
  return `${before} → ${kind}`;
}
