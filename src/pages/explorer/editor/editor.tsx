/** The query's text and its time range. */
import { useEffect, useState } from 'preact/hooks';
import { type useZone, ZonePicker } from '../../parts/zone-picker.tsx';
import type { KnownNames } from './complete.ts';
import { CodeField } from './code-field.tsx';
import { findProblem, type QueryProblem } from './find-problem.ts';
import { RangePicker } from './range-picker.tsx';

export interface EditorProps {
  readonly query: string;
  readonly range: string;
  readonly zone: ReturnType<typeof useZone>;
  readonly isRunning: boolean;
  readonly canRun: boolean;
  readonly known: KnownNames;
  /** What the service refused in this very text. */
  readonly refused: QueryProblem | undefined;
  readonly onEdit: (query: string) => void;
  readonly onRun: (query: string, range: string) => void;
  readonly onCancel: () => void;
  readonly onTail: () => void;
}

/** A fault is shown when the typing rests: half a word is one, too. */
const REST_MS = 400;

export function Editor({
  query,
  range,
  zone,
  isRunning,
  canRun,
  known,
  refused,
  onEdit,
  onRun,
  onCancel,
  onTail,
}: EditorProps) {
  const [isSuggesting, setSuggesting] = useState(false);
  const found = useProblem(query);
  useEffect(() => {
    if (!isRunning) return undefined;
    // An Escape that closes a list of suggestions is taken.
    const endIt = (event: KeyboardEvent) => event.key === 'Escape' && !event.defaultPrevented && onCancel();
    addEventListener('keydown', endIt);
    return () => removeEventListener('keydown', endIt);
  }, [isRunning]);
  // Half-typed text is not an error yet, and a refusal is shown below.
  const problem = isSuggesting ? undefined : refused ? { ...(found ?? refused), message: '' } : found;
  return (
    <form
      class="editor"
      onSubmit={(event) => {
        event.preventDefault();
        if (isRunning) onCancel();
        else onRun(query, range);
      }}
    >
      <CodeField
        query={query}
        problem={problem}
        known={known}
        onEdit={onEdit}
        onRun={(text) => onRun(text, range)}
        onSuggest={setSuggesting}
      />
      <p id="query-problem" class="query-problem">
        {problem?.message}
      </p>
      <div class="editor-bar">
        <RangePicker range={range} onChange={(next) => onRun(query, next)} />
        <ZonePicker {...zone} />
        <span class="hint">
          <kbd>Ctrl</kbd> <kbd>Enter</kbd> runs it, <kbd>Esc</kbd> ends it, <kbd>Ctrl</kbd> <kbd>Space</kbd> suggests;
          the address holds what you see
        </span>
        <span class="buttons">
          <button type="button" disabled={!canRun || query.trim() === ''} onClick={onTail}>
            Live
          </button>
          <button type="submit" class="primary" disabled={!isRunning && (!canRun || query.trim() === '')}>
            {isRunning ? 'Cancel' : 'Run'}
          </button>
        </span>
      </div>
    </form>
  );
}

/** Undefined while the text is being typed. */
function useProblem(query: string): QueryProblem | undefined {
  const [found, setFound] = useState<{ readonly query: string; readonly problem: QueryProblem | undefined }>();
  useEffect(() => {
    const timer = setTimeout(() => setFound({ query, problem: findProblem(query) }), REST_MS);
    return () => clearTimeout(timer);
  }, [query]);
  return found?.query === query ? found.problem : undefined;
}
