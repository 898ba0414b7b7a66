/** The query's text and its time range. */
import { absoluteRange, RANGES } from './link-state.ts';
import { formatTime } from '../parts/format.ts';

export interface EditorProps {
  readonly query: string;
  readonly range: string;
  readonly isRunning: boolean;
  readonly canRun: boolean;
  readonly onEdit: (query: string) => void;
  readonly onRun: (query: string, range: string) => void;
}

export function Editor({ query, range, isRunning, canRun, onEdit, onRun }: EditorProps) {
  const absolute = absoluteRange(range);
  return (
    <form
      class="editor"
      onSubmit={(event) => {
        event.preventDefault();
        onRun(query, range);
      }}
    >
      <label for="query" class="visually-hidden">
        Query
      </label>
      <textarea
        id="query"
        class="mono"
        rows={Math.min(12, Math.max(3, query.split('\n').length + 1))}
        spellcheck={false}
        autocomplete="off"
        placeholder={'[\'app-logs\']\n| where level == "error"\n| summarize count() by bin(_time, 1m), service'}
        value={query}
        onInput={(event) => onEdit(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          onRun(event.currentTarget.value, range);
        }}
      />
      <div class="editor-bar">
        <label for="range" class="visually-hidden">
          Time range
        </label>
        <select id="range" value={range} onChange={(event) => onRun(query, event.currentTarget.value)}>
          {Object.entries(RANGES).map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
          {absolute && (
            <option value={range}>
              {formatTime(absolute[0])} – {formatTime(absolute[1])}
            </option>
          )}
        </select>
        <span class="hint">
          <kbd>Ctrl</kbd> <kbd>Enter</kbd> runs it; the address holds query and range
        </span>
        <button type="submit" class="primary" disabled={!canRun || query.trim() === ''}>
          {isRunning ? 'Running …' : 'Run'}
        </button>
      </div>
    </form>
  );
}
