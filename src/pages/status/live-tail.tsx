/** Events as a source accepts them, after their transforms. Asked for only while it is open; needs `telemetry.live_tail: true`. */
import { useEffect, useState } from 'preact/hooks';
import type { TailView } from '../../telemetry/status-page.ts';
import { formatCount, formatMany } from '../parts/format.ts';
import { formatCell } from '../parts/show-text.ts';

const MOST_LINES = 200;
const MOST_CHARACTERS = 2000;
const PAUSE_MS = 250;
const RETRY_MS = 2000;

interface TailedLines {
  /** Newest first. */
  readonly lines: readonly { readonly number: number; readonly text: string }[];
  readonly looked: number;
  /** Accepted since it was opened. */
  readonly accepted: number;
  readonly problem: string;
}

const EMPTY: TailedLines = { lines: [], looked: 0, accepted: 0, problem: '' };

export function LiveTail({ sources }: { readonly sources: readonly string[] }) {
  const [isOpen, setOpen] = useState(false);
  const [source, setSource] = useState(sources[0] ?? '');
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="surface">
        <h2>Live tail</h2> <span>events as they are accepted, after their transforms</span>
      </summary>
      <label class="tail-source">
        Source{' '}
        <select value={source} onChange={(event) => setSource(event.currentTarget.value)}>
          {sources.map((id) => (
            <option key={id}>{id}</option>
          ))}
        </select>
      </label>
      {isOpen && <Lines key={source} source={source} />}
    </details>
  );
}

function Lines({ source }: { readonly source: string }) {
  const [{ lines, looked, accepted, problem }, setTail] = useState(EMPTY);
  useEffect(() => {
    const abort = new AbortController();
    void follow(source, abort.signal, setTail);
    return () => abort.abort();
  }, [source]);
  const leftOut = Math.max(0, accepted - looked);
  return (
    <>
      <p role="status">
        {problem === '' ? `${formatMany(looked, 'event')} looked at` : problem}
        {leftOut > 0 && `, ${formatCount(leftOut)} left out: a sample, which does not slow the agent down`}
      </p>
      <ol class="surface tail mono" tabIndex={0} aria-label={`Newest events of ${source}`}>
        {lines.map(({ number, text }) => (
          <li key={number}>
            <bdi>{text}</bdi>
          </li>
        ))}
      </ol>
    </>
  );
}

async function follow(
  source: string,
  signal: AbortSignal,
  set: (change: (tail: TailedLines) => TailedLines) => void,
): Promise<void> {
  let from: number | undefined;
  let number = 0;
  while (!signal.aborted) {
    let waitMs = PAUSE_MS;
    try {
      const reply = await fetch(`tail.json?${new URLSearchParams({ source }).toString()}`, { signal });
      if (!reply.ok) throw new Error(await reply.text());
      const view = (await reply.json()) as TailView;
      // A new process counts from 0.
      if (from === undefined || view.to < from) ({ from } = view);
      const accepted = view.to - from;
      const fresh = view.events
        .map((event) => ({ number: (number += 1), text: formatCell(event, MOST_CHARACTERS) }))
        .toReversed();
      set((tail) => ({
        lines: [...fresh, ...tail.lines].slice(0, MOST_LINES),
        looked: tail.looked + view.looked,
        accepted,
        problem: '',
      }));
    } catch (error) {
      if (signal.aborted) return;
      set((tail) => ({ ...tail, problem: error instanceof Error ? error.message : String(error) }));
      waitMs = RETRY_MS;
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}
