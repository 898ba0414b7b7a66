/** The audit as a person reads it. Pure. */
import { formatBytes } from '../../config/fields/units.ts';
import { printable } from '../../config/quote.ts';
import { groupDigits, plural } from '../output/say.ts';
import { JOURNAL_PATH, type LossReason } from '../../core/stream.ts';
import { REASONS } from './losses.ts';
import type { ByteRange } from './ranges.ts';
import type { Audit, AuditedAgent, AuditedSink, AuditReport, StreamAudit } from './report.ts';

/** The most dead letters that are named of one stream, sink and dataset. */
const MAX_SHOWN_LETTERS = 3;

export function renderAudit({ ok, totals, agent, streams, held, problems }: Audit): string {
  const {
    settled,
    in_hand: inHand,
    unread,
    lost,
    dropped,
    gap,
    acknowledged,
    dead_letters: letters,
    missing_letters: missing,
    dropped_letters: droppedLetters,
  } = totals;
  const sums = { settled, 'in hand': inHand, unread, lost, ...(dropped > 0 && { dropped }), 'in gaps': gap };
  const others = { missing, dropped: droppedLetters };
  const ofLetters = [
    plural(letters, 'dead letter'),
    ...Object.entries(others).flatMap(([name, count]) => (count > 0 ? `${groupDigits(count)} ${name}` : [])),
  ];
  const bytes = Object.entries(sums).map(([name, count]) => `${formatBytes(count)} ${name}`);
  return [
    ...streams.flatMap(streamLines),
    ...held.flatMap(heldLines),
    ...(agent ? agentLines(agent) : ['no agent runs: this is what one that starts finds']),
    ...problems.map((problem) => `cannot be read: ${printable(problem)}`),
    `${plural(streams.length, 'stream')}: ${bytes.join(', ')}; ${ofLetters.join(', ')}`,
    `${ok ? 'every' : 'not every'} byte is accounted for${acknowledged > 0 ? `; ${formatBytes(acknowledged)} are acknowledged as lost` : ''}`,
    ...(lost > acknowledged ? ['tailrace audit --acknowledge takes these losses for known'] : []),
    '',
  ].join('\n');
}

function streamLines({ source, file, now_at: nowAt, stream, sinks, unread_bytes: unread }: StreamAudit): string[] {
  const unnamed = stream === undefined ? 'bytes whose stream is not known any more' : 'a connection, or standard input';
  const isJournal = file.startsWith(JOURNAL_PATH);
  const name = isJournal ? `journal s=${file.slice(JOURNAL_PATH.length)}` : file === '' ? unnamed : printable(file);
  const positionOf = (at?: number): string =>
    at === undefined ? '?' : isJournal ? `i=${at.toString(16)}` : String(at);
  const place =
    file === '' || nowAt === file
      ? ''
      : nowAt === undefined
        ? ', not in its folder any more'
        : `, now ${printable(nowAt)}`;
  const never =
    unread === undefined ? [] : [`  0–${unread}  unread: no position is known of it; tailrace explain says why`];
  return [
    `source ${source}: ${name}${place}${stream === undefined ? '' : `  (stream ${stream})`}`,
    ...never,
    ...sinks.flatMap((each) => sinkLines(each, positionOf)),
  ];
}

function sinkLines(
  { sink, dataset, settled_as: settledAs, ranges, unplaced, dead_letters: letters }: AuditedSink,
  positionOf: (at?: number) => string,
): string[] {
  const left = letters.count - MAX_SHOWN_LETTERS;
  return [
    `  sink ${sink}, dataset ${dataset}`,
    ...ranges.map(
      (range) =>
        `    ${positionOf(range.from)}–${positionOf(range.to)}  ${describeRange(range, settledAs, letters.count + letters.missing.length > 0)}`,
    ),
    ...unplaced.map((each) => `    ${groupDigits(each.bytes)} bytes  ${describeLoss(each)}`),
    ...letters.named
      .slice(0, MAX_SHOWN_LETTERS)
      .map(
        ({ id, offset, status, reason }) =>
          `    dead letter ${id}: byte ${offset}, ${status === 0 ? '' : `HTTP ${status}, `}${printable(reason)}`,
      ),
    ...letters.missing.map(
      ({ id, path, events }) =>
        `    dead letter ${id}: ${events > 0 ? plural(events, 'event') : 'its events'} lost, as others removed ${events > 0 ? 'them from ' : ''}${printable(path)}; put it back, or say that it is not needed: tailrace dead-letters drop ${id}`,
    ),
    ...Object.entries(letters.dropped).map(
      ([end, events]) => `    ${plural(events, 'dead letter')} dropped, ${DROPPED_BY[end as keyof typeof DROPPED_BY]}`,
    ),
    ...(left > 0 ? [`    and ${plural(left, 'dead letter')} more: tailrace dead-letters list`] : []),
  ];
}

function heldLines({
  sink,
  path,
  held,
  unlisted,
  unfinished,
  removed,
  faults,
  fault_count: count,
}: AuditReport['held'][number]): string[] {
  const countsOf = ({ batches, events, bytes }: typeof held): string =>
    `${plural(batches, 'file')}, ${plural(events, 'event')}, ${formatBytes(bytes)}`;
  const waiting = unlisted + unfinished;
  return [
    `sink ${sink} in ${printable(path)}: ${countsOf(held)} as the manifests say`,
    ...Object.entries(removed).map(
      ([key, { hours, until, ...counts }]) =>
        `    removed by ${printable(key)}: ${plural(hours, 'hour')} up to ${printable(until)}, ${countsOf(counts)}`,
    ),
    ...(waiting > 0
      ? [`    ${plural(waiting, 'file')} without a line in a manifest: the agent ends that as it goes on`]
      : []),
    ...faults.map(
      ({ path: file, key, why }) =>
        `    ${key === undefined ? '' : `batch ${key}: `}${printable(file)}: ${printable(why)}`,
    ),
    ...(count > faults.length
      ? [`    and ${plural(count - faults.length, 'more file')} that are missing or damaged`]
      : []),
    ...(count > 0 ? ['    put back what is missing; where the loss is known, remove its line from the manifest'] : []),
  ];
}

const DROPPED_BY = {
  command: 'with tailrace dead-letters drop',
  when_full: 'as they were full (dead_letter.when_full)',
} as const;

const HOLDERS = {
  disk_buffer: 'the disk buffer',
  file: 'its file, from which it is sent again if need be',
  agent: 'the running agent',
} as const;

function describeRange(
  { state, where, reason, ...range }: ByteRange,
  settledAs: AuditedSink['settled_as'],
  hasLetters: boolean,
): string {
  switch (state) {
    case 'settled':
      return `${settledAs.join(' or ')}${hasLetters ? ', but for the dead letters' : ''}`;
    case 'in_hand':
      return `in hand: ${HOLDERS[where ?? 'agent']}`;
    case 'unread':
      return 'unread, in its file';
    case 'lost':
    case 'dropped':
      if (reason !== undefined) return describeLoss({ state, reason, ...range });
      return 'lost: in no file and no disk buffer, unless a copy of the file is found';
    case 'gap':
      return 'gap: nothing in the state answers for it';
  }
}

function describeLoss({
  state,
  reason,
  at,
  acknowledged,
}: Pick<ByteRange, 'state' | 'at' | 'acknowledged'> & { readonly reason: LossReason }): string {
  const { why, fix } = REASONS[reason];
  return `${state}${acknowledged === true ? ', acknowledged' : ''}: ${why} (found ${at ?? ''}); to avoid it: ${fix}`;
}

function agentLines({ pid, balanced, problems, sources }: AuditedAgent): string[] {
  return [
    `the agent (process ${pid}) since its start; its accounting ${balanced ? 'balances' : 'is off'}`,
    ...problems.map((problem) => `  ${problem}`),
    ...sources.map(({ id, accepted, delivered, dead_lettered: letters, dropped, filtered, held, lost_bytes: lost }) => {
      const counts = Object.entries({ delivered, 'dead-lettered': letters, dropped, filtered, held });
      const sum = counts.map(([name, count]) => `${groupDigits(count)} ${name}`).join(', ');
      return `  source ${id}: ${plural(accepted, 'event')} accepted = ${sum}; ${formatBytes(lost)} lost`;
    }),
  ];
}
