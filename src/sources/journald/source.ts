/**
 * The journald source: follows the journal through one child, `journalctl`, and reads what it needs again through another. Promises: each entry that
 * is wanted becomes an event once, over restarts, too; entries that were deleted before they were read are counted; a child that dies, hangs or prints
 * anything else is replaced; the child ends with the source.
 */
import { uptime } from 'node:os';
import type { JournaldConfig } from './journald-type.ts';
import type { Lane, Span } from '../../core/block.ts';
import { codeOf, TailraceError } from '../../core/errors.ts';
import { LogLimit } from '../../core/log.ts';
import { newStats, type Source, type SourceContext } from '../../core/source.ts';
import { nextBackoffMs } from '../../core/time/backoff.ts';
import { StepDeadline } from '../../core/time/clock.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import type { JournalCursor } from './entry.ts';
import { EntryFeed } from './entry-feed.ts';
import {
  beginArguments,
  filterArguments,
  findJournalctl,
  followArguments,
  type JournalRun,
  MISSING,
  outputArguments,
  placedAt,
  runJournalctl,
} from './journalctl.ts';
import {
  JOURNAL_BACKOFF_MS,
  JOURNAL_DOUBT_MS,
  JOURNAL_ENTRY_BYTES,
  JOURNAL_MAX_BACKOFF_MS,
  JOURNAL_NOTICE_MS,
  JOURNAL_ONCE_TRIES,
  JOURNAL_SILENCE_MS,
  JOURNAL_WRITING_MS,
} from './limits.ts';
import { isNamed, ownUnit } from './own-unit.ts';
import { type Sequence, Sequences } from './sequences.ts';

/** Of every line about trouble: entries of the agent's own unit that hold it never become events, which would make more of them. */
const CODE = 'E_JOURNAL';

export interface JournaldOptions {
  readonly run?: typeof runJournalctl;
  readonly silenceMs?: number;
  readonly unit?: string | undefined;
}

export function createJournaldSource(
  config: JournaldConfig,
  context: SourceContext,
  kernel: Kernel,
  { run: runChild = runJournalctl, silenceMs = JOURNAL_SILENCE_MS, unit = ownUnit() }: JournaldOptions = {},
): Source {
  const { lane, log, clock, streams } = context;
  const { id, maxEventBytes, fields, allFields, parseJson } = config;
  const past = { lostRanges: 0, lagSeconds: 0 };
  const stats = { ...newStats(), past };
  const filter = filterArguments(config);
  const sequences = new Sequences(streams, id, JSON.stringify(filter));
  const shaping = JSON.stringify(['journald', allFields, parseJson, maxEventBytes]);
  const objects = parseJson ? ('fields' as const) : ('none' as const);
  const shape = { format: 'auto' as const, shaping, wrapFields: {}, fields, objects };
  const isOwnNamed = unit !== undefined && isNamed(unit, config.units);
  const feed = new EntryFeed({
    window: context.reserve(maxEventBytes + JOURNAL_ENTRY_BYTES),
    output: context.reserve(maxEventBytes + JOURNAL_ENTRY_BYTES),
    loop: kernel.journal(
      { longest: maxEventBytes, unit, slow: allFields ? 'all' : parseJson ? 'objects' : 'none' },
      context.reserve,
    ),
    shape,
    form: config,
    stats,
    clock,
    leavesOut: ({ fields: own }) =>
      own.get('_SYSTEMD_UNIT')?.some((each) => String(each) === unit) === true &&
      (!isOwnNamed || own.get('MESSAGE')?.some((each) => each.includes(CODE)) === true),
  });
  const notices = new LogLimit(1, JOURNAL_NOTICE_MS);
  const rereads = new LogLimit(1, JOURNAL_DOUBT_MS);
  const progress = new StepDeadline('reading the journal', clock, silenceMs);
  const stopping = new AbortController();
  let child: JournalRun | undefined;
  let running: Promise<void> | undefined;
  /** A total that a reload carried over. */
  let lostAtOpen = 0;
  /** The last entry that was taken. */
  let last: JournalCursor | undefined;
  /** Cursor of the entry that is reread because it had no message: journalctl omits a field that journald has not linked yet. */
  let doubted = '';
  /** The entry behind which a gap was noted. */
  let gone = '';

  const argumentsFrom = (cursor: string, chosen = filter): string[] => [
    ...outputArguments(config),
    `--cursor=${cursor}`,
    ...chosen,
  ];

  /** `held`: the entry that every child prints first. */
  function begin(): { readonly args: string[]; readonly held: JournalCursor | undefined } {
    const resumed = last ? { cursor: last, isSameFilter: true } : sequences.resume();
    const follow = context.once ? [] : followArguments(config);
    const bootMs = clock.now() - uptime() * 1000;
    if (!resumed)
      return {
        args: [...outputArguments(config), ...follow, ...beginArguments(config, bootMs), ...filter],
        held: undefined,
      };
    return {
      args: [...argumentsFrom(resumed.cursor.text), ...follow],
      held: resumed.isSameFilter ? resumed.cursor : undefined,
    };
  }

  /** What the child printed first in place of the entry that was read last. */
  function noteGone(held: JournalCursor, first: JournalCursor): void {
    // At the start, restoring has counted those of held batches.
    if (last || stats.lostBytes === lostAtOpen) past.lostRanges += 1;
    const [from, to] = [held, first].map(({ atMs }) => new Date(atMs).toISOString());
    log.error(
      { source: id, code: CODE, from, to, lostRanges: past.lostRanges },
      'the journal no longer has the entry that was read last; entries between these times may have been deleted before they were read',
    );
  }

  /** One child, from its start to its end; undefined where that needs no notice. */
  async function follow(): Promise<string | undefined> {
    const { args, held } = begin();
    const current = runChild(args);
    child = current;
    const ended = new AbortController();
    let isSilent = false;
    /** When the read that waits has waited too long. */
    let silentAtMs = Infinity;
    let sequence: Sequence | undefined;
    /** Older entries were whole when the child started. */
    const writtenFromMs = config.directory === undefined ? clock.now() - JOURNAL_WRITING_MS : 0;
    const input = {
      close: () => current.close(),
      async read(into: Buffer): Promise<number> {
        lane.rest?.();
        progress.expect(clock.monotonic() + 3 * silenceMs);
        silentAtMs = clock.monotonic() + silenceMs;
        return current.read(into).finally(() => {
          silentAtMs = Infinity;
          progress.end();
        });
      },
    };
    async function watch(): Promise<void> {
      for (let leftMs = silenceMs; !ended.signal.aborted && leftMs > 0; leftMs = silentAtMs - clock.monotonic())
        await clock.sleep(Math.min(leftMs, silenceMs), ended.signal);
      isSilent = !ended.signal.aborted;
      if (isSilent) current.close();
    }
    void watch();
    try {
      const end = await feed.read(input, {
        turn(next) {
          const isRead = held !== undefined && (next.text === held.text || next.content === held.content);
          if (held && !sequence && !isRead && gone !== held.text) {
            gone = held.text;
            noteGone(held, next);
          }
          sequence = sequences.of(next, !sequence && isRead);
          return { stream: sequence.stream, sequence: sequence.name, from: sequence.behind, before: Infinity };
        },
        doubts({ text, atMs }) {
          if (
            context.once ||
            atMs < writtenFromMs ||
            text === doubted ||
            rereads.admit(clock.monotonic()) === undefined
          )
            return false;
          doubted = text;
          return true;
        },
        async take(block, cursor) {
          if (block) sequences.note(sequence!, cursor);
          if (block) await lane.accept(block);
          last = cursor;
          sequence!.behind = Math.max(sequence!.behind, cursor.number + 1);
          past.lagSeconds = Math.max(0, (clock.now() - cursor.atMs) / 1000);
        },
      });
      if (end === 'end') return undefined;
      if (end === 'garbage') return 'journalctl printed bytes that are no entry of a journal';
      if (isSilent) return held && !sequence ? `journalctl printed nothing for ${silenceMs / 1000} s` : undefined;
      return (await current.problem()) ?? (context.once ? undefined : 'journalctl ended');
    } finally {
      ended.abort();
      current.close();
    }
  }

  async function run(): Promise<void> {
    for (let attempt = 0; !stopping.signal.aborted;) {
      const before = last?.text;
      const problem = await follow();
      if (stopping.signal.aborted || (context.once && problem === undefined)) return;
      if (problem === undefined) continue;
      attempt = last?.text === before ? attempt + 1 : 1;
      const heldBack = notices.admit(clock.monotonic());
      if (heldBack !== undefined)
        log.error({ source: id, code: CODE, heldBack }, `cannot follow the journal, trying again: ${problem}`);
      if (context.once && attempt >= JOURNAL_ONCE_TRIES) return;
      const backoff = { initialBackoffMs: JOURNAL_BACKOFF_MS, maxBackoffMs: JOURNAL_MAX_BACKOFF_MS };
      await clock.sleep(nextBackoffMs(backoff, attempt, Math.random), stopping.signal);
    }
  }

  /** Offers the span's entries again with their original read times, before `run` only: both use one feed. Resolves with the position reached. */
  async function reread(span: Span, to: Lane): Promise<number> {
    const known = sequences.byStream(span.stream);
    let at = span.from;
    if (!known) return at;
    const { stream, name } = known;
    const input = runChild(
      argumentsFrom(sequences.cursorAt(known, at), placedAt(config, JSON.parse(known.filter) as string[])),
    );
    try {
      const end = await feed.read(input, {
        turn({ sequence, number }) {
          if (sequence !== name) return { stream, sequence, from: Infinity, before: Infinity };
          const reads = span.reads ?? [];
          const n = reads.findLastIndex(({ from }) => from <= Math.max(number, span.from));
          const before = reads[n + 1]?.from ?? span.to;
          return number < span.to ? { stream, sequence, from: at, before, readAtMs: reads[n]?.atMs } : undefined;
        },
        async take(block) {
          if (!block) return;
          at = block.positions!.at(-1)!;
          await to.accept(block);
        },
      });
      const problem =
        end === 'ended' ? await input.problem() : end === 'garbage' ? 'it printed bytes that are no entry' : undefined;
      if (problem !== undefined)
        throw new TailraceError('E_UNREADABLE', `cannot read the journal of source "${id}" again: ${problem}`);
      return at;
    } finally {
      input.close();
    }
  }

  return {
    id,
    stats,
    async open() {
      lostAtOpen = stats.lostBytes;
      if (runChild === runJournalctl && !findJournalctl())
        throw new TailraceError(CODE, MISSING.message, { fix: MISSING.fix });
      sequences.load();
    },
    run() {
      running ??= run().catch((error: unknown) => {
        if (codeOf(error) !== 'E_STOPPED') throw error;
      });
      return running;
    },
    async stop() {
      stopping.abort();
      child?.close();
      await running;
    },
    reread,
    overdue: () => progress.describe(),
  };
}
