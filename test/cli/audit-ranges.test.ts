/** `tailrace audit`, case by case: which bytes it says are where. */
import { expect, test } from 'vitest';
import { NO_TOTALS } from '../../src/cli/audit/report.ts';
import { type ByteRange, rangesOf } from '../../src/cli/audit/ranges.ts';
import { renderAudit } from '../../src/cli/audit/show.ts';

const span = (from: number, to: number, isSettled = false) => ({ from, to, key: `${from}`, isSettled });

interface Case {
  readonly name: string;
  readonly settledTo?: number;
  readonly pending?: ReturnType<typeof span>[];
  readonly startAt?: number;
  /** How far the file can be read; undefined: it is gone. */
  readonly readableTo?: number;
  readonly end: number;
  readonly isRunning?: boolean;
  readonly spooled?: readonly string[];
  readonly ranges: readonly string[];
}

const cases: readonly Case[] = [
  { name: 'read to its end', settledTo: 9, readableTo: 9, end: 9, ranges: ['0-9 settled'] },
  { name: 'begun at its end', startAt: 5, settledTo: 9, readableTo: 9, end: 9, ranges: ['5-9 settled'] },
  { name: 'never read', readableTo: 9, end: 9, ranges: ['0-9 unread'] },
  { name: 'deleted before it was read', settledTo: 4, end: 9, ranges: ['0-4 settled', '4-9 lost'] },
  {
    name: 'deleted, an agent runs',
    settledTo: 4,
    end: 9,
    isRunning: true,
    ranges: ['0-4 settled', '4-9 in_hand agent'],
  },
  {
    name: 'a batch under way',
    settledTo: 4,
    pending: [span(4, 6)],
    readableTo: 9,
    end: 9,
    ranges: ['0-4 settled', '4-6 in_hand file', '6-9 unread'],
  },
  {
    name: 'a batch under way, its file gone',
    settledTo: 4,
    pending: [span(4, 9)],
    end: 9,
    ranges: ['0-4 settled', '4-9 lost'],
  },
  {
    name: 'a batch in the disk buffer',
    settledTo: 4,
    pending: [span(4, 9)],
    end: 9,
    spooled: ['4'],
    ranges: ['0-4 settled', '4-9 in_hand disk_buffer'],
  },
  {
    name: 'a later batch settled first',
    settledTo: 2,
    pending: [span(2, 4), span(4, 6, true)],
    readableTo: 6,
    end: 6,
    ranges: ['0-2 settled', '2-4 in_hand file', '4-6 settled'],
  },
  {
    name: 'batches side by side',
    pending: [span(0, 2), span(2, 4)],
    readableTo: 4,
    end: 4,
    ranges: ['0-4 in_hand file'],
  },
  {
    name: 'a batch that is missing',
    settledTo: 2,
    pending: [span(4, 6)],
    readableTo: 6,
    end: 6,
    ranges: ['0-2 settled', '2-4 gap', '4-6 in_hand file'],
  },
];

const textOf = ({ from, to, state, where }: ByteRange): string =>
  `${from}-${to} ${state}${where === undefined ? '' : ` ${where}`}`;

test.each(cases)('ranges of a stream: $name', (each) => {
  const { settledTo = 0, pending = [], startAt = 0, readableTo, end, isRunning = false, spooled = [], ranges } = each;
  const holders = { isRunning, isSpooled: (key: string) => spooled.includes(key) };
  expect(rangesOf({ owner: 'store', settledTo, pending }, { startAt, readableTo, end }, holders).map(textOf)).toEqual(
    ranges,
  );
});

// Symptom: "17,317 events accepted = 17317 delivered".
test('each count of the running agent has its digits in groups', () => {
  const count = 1_234_567;
  const totals = { ...NO_TOTALS, dead_letters: count };
  const counts = {
    accepted: count,
    delivered: count,
    dead_lettered: count,
    dropped: count,
    filtered: count,
    held: count,
    lost_bytes: 0,
  };
  const agent = { pid: 1, balanced: true, problems: [], sources: [{ id: 'app', ...counts }] };
  const shown = renderAudit({ ok: true, totals, agent, streams: [], held: [], problems: [] });
  expect(shown).not.toContain('1234567');
  expect(shown.match(/1,234,567/g)).toHaveLength(7);
});
