/**
 * A text field for a query. The visible text is a coloured copy behind a field whose own text is transparent: typing, undo, screen readers
 * and phones have a plain text field. Tab takes a suggestion while some are shown, Escape closes them, Ctrl+Space asks for them.
 */
import { useLayoutEffect, useMemo, useRef, useState, useEffect } from 'preact/hooks';
import { complete, type Completion, type KnownNames, type Suggestion } from './complete.ts';
import type { QueryProblem } from './find-problem.ts';
import { highlight, type PieceKind } from './highlight.ts';
import { formatCell } from '../../parts/show-text.ts';

/** As the style sheet has it, at most. */
const LIST_PIXELS = 420;

export interface CodeFieldProps {
  readonly query: string;
  readonly problem: QueryProblem | undefined;
  readonly known: KnownNames;
  readonly onEdit: (query: string) => void;
  readonly onRun: (query: string) => void;
  /** Called with whether suggestions are shown. */
  readonly onSuggest: (isShown: boolean) => void;
}

interface OpenList extends Completion {
  readonly chosen: number;
  /** Arrows moved through the list: Enter takes the entry, too. */
  readonly isMoved: boolean;
}

export function CodeField({ query, problem, known, onEdit, onRun, onSuggest }: CodeFieldProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const holder = useRef<HTMLDivElement>(null);
  const mark = useRef<HTMLElement>(null);
  const caretAfter = useRef<number | undefined>(undefined);
  const [open, setOpen] = useState<OpenList | undefined>();
  const [place, setPlace] = useState({ left: 0, top: 0 });
  const runs = useMemo(() => cutRuns(query, problem, open?.from), [query, problem, open?.from]);

  useLayoutEffect(() => onSuggest(open !== undefined), [open !== undefined]);
  useLayoutEffect(() => {
    if (caretAfter.current === undefined) return;
    field.current?.setSelectionRange(caretAfter.current, caretAfter.current);
    caretAfter.current = undefined;
  }, [query]);
  useLayoutEffect(() => {
    const { offsetLeft = 0, offsetTop = 0, offsetHeight = 0 } = mark.current ?? {};
    const { clientWidth = 0, scrollTop = 0 } = holder.current ?? {};
    const left = Math.max(0, Math.min(offsetLeft, clientWidth - LIST_PIXELS));
    if (open) setPlace({ left, top: offsetTop + offsetHeight - scrollTop });
  }, [open]);

  const suggest = (text: string, caret: number, isAsked: boolean) => {
    const found = complete(text, caret, known);
    const word = found && text.slice(found.from, caret);
    // A word that is whole needs none, and neither does one that is not begun.
    const isWanted = found && (isAsked || (word !== '' && !found.suggestions.some(({ label }) => label === word)));
    setOpen(found && isWanted ? { ...found, chosen: 0, isMoved: false } : undefined);
  };
  const take = ({ insert }: Suggestion) => {
    const { selectionStart: caret } = field.current!;
    const { from } = open!;
    const isClosed = insert.endsWith("']") && /^['"]?\]/.exec(query.slice(caret));
    caretAfter.current = from + insert.length;
    onEdit(query.slice(0, from) + insert + query.slice(caret + (isClosed ? isClosed[0].length : 0)));
    setOpen(undefined);
  };
  const onKeyDown = (event: KeyboardEvent & { readonly currentTarget: HTMLTextAreaElement }) => {
    const { key, currentTarget } = event;
    const { value, selectionStart } = currentTarget;
    if (key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      setOpen(undefined);
      onRun(value);
    } else if (key === ' ' && event.ctrlKey) suggest(value, selectionStart, true);
    else if (open && (key === 'ArrowDown' || key === 'ArrowUp')) {
      const { length } = open.suggestions;
      setOpen({ ...open, isMoved: true, chosen: (open.chosen + (key === 'ArrowDown' ? 1 : length - 1)) % length });
    } else if (open && (key === 'Tab' || (key === 'Enter' && open.isMoved))) take(open.suggestions[open.chosen]!);
    else if (open && key === 'Escape') setOpen(undefined);
    else {
      if (key === 'Enter' || key.startsWith('Arrow') || key === 'Home' || key === 'End') setOpen(undefined);
      return;
    }
    event.preventDefault();
  };

  return (
    <div class="code-field">
      <label for="query" class="visually-hidden">
        Query
      </label>
      <div ref={holder} class="code">
        <pre class="code-shown" aria-hidden="true">
          {runs.map(({ text, kind, isFault, isMark }, index) => (
            <span key={index} {...(isMark ? { ref: mark } : {})} class={`code-${kind}${isFault ? ' code-fault' : ''}`}>
              {text}
            </span>
          ))}
          {'\n'}
        </pre>
        <textarea
          id="query"
          ref={field}
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          aria-autocomplete="list"
          aria-describedby="query-problem"
          aria-invalid={problem !== undefined}
          {...(open ? { 'aria-controls': LIST_ID, 'aria-activedescendant': suggestionId(open.chosen) } : {})}
          placeholder={'[\'app-logs\']\n| where level == "error"\n| summarize count() by bin(_time, 1m), service'}
          value={query}
          onInput={(event) => {
            const { currentTarget } = event;
            onEdit(currentTarget.value);
            // Only typed characters: a pasted text is whole.
            const { inputType, data } = event as unknown as InputEvent;
            if (inputType === 'insertText' && data?.length === 1)
              suggest(currentTarget.value, currentTarget.selectionStart, false);
            else if (open && inputType === 'deleteContentBackward')
              suggest(currentTarget.value, currentTarget.selectionStart, false);
            else setOpen(undefined);
          }}
          onKeyDown={onKeyDown}
          onClick={() => setOpen(undefined)}
          onBlur={() => setOpen(undefined)}
        />
      </div>
      {open && <Suggestions suggestions={open.suggestions} chosen={open.chosen} place={place} onTake={take} />}
    </div>
  );
}

interface CodeRun {
  readonly text: string;
  readonly kind: PieceKind;
  readonly isFault: boolean;
  readonly isMark: boolean;
}

/** The pieces of the text, cut again where a fault begins and ends and where suggestions are shown. */
function cutRuns(query: string, problem: QueryProblem | undefined, mark: number | undefined): CodeRun[] {
  const cuts = [problem?.at, problem?.end, mark].filter((cut) => cut !== undefined);
  const runs = highlight(query).flatMap(({ kind, at, end }) => {
    const edges = [at, ...cuts.filter((cut) => cut > at && cut < end).sort((a, b) => a - b), end];
    return edges.slice(1).map((to, index) => {
      const from = edges[index]!;
      const isFault = problem !== undefined && from >= problem.at && to <= problem.end;
      return { text: query.slice(from, to), kind, isFault, isMark: from === mark };
    });
  });
  return mark === query.length ? [...runs, { text: '\u200B', kind: 'plain', isFault: false, isMark: true }] : runs;
}

const LIST_ID = 'suggestions';
const suggestionId = (index: number): string => `suggestion-${index}`;

interface SuggestionsProps {
  readonly suggestions: readonly Suggestion[];
  readonly chosen: number;
  /** Pixels in the field. */
  readonly place: { readonly left: number; readonly top: number };
  readonly onTake: (suggestion: Suggestion) => void;
}

function Suggestions({ suggestions, chosen, place, onTake }: SuggestionsProps) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' }), [chosen]);
  return (
    <div class="suggestions" style={{ left: `${place.left}px`, top: `${place.top}px` }}>
      <ul ref={list} id={LIST_ID} role="listbox" aria-label="Suggestions">
        {suggestions.map((suggestion, index) => (
          <li
            key={`${suggestion.kind} ${suggestion.label}`}
            id={suggestionId(index)}
            role="option"
            aria-selected={index === chosen}
            onMouseDown={(event) => {
              // The text field keeps the focus.
              event.preventDefault();
              onTake(suggestion);
            }}
          >
            <bdi>{formatCell(suggestion.label, 60)}</bdi> <small>{suggestion.kind}</small>
          </li>
        ))}
      </ul>
      <p class="suggestion-detail">{suggestions[chosen]?.detail}</p>
    </div>
  );
}
