/** The list below the caret. The text field keeps the focus; it names the chosen entry to screen readers. */
import { useEffect, useRef } from 'preact/hooks';
import { formatCell } from '../../parts/show-text.ts';
import type { Suggestion } from './complete.ts';

export const LIST_ID = 'suggestions';
export const suggestionId = (index: number): string => `suggestion-${index}`;

export interface SuggestionsProps {
  readonly suggestions: readonly Suggestion[];
  readonly chosen: number;
  /** Pixels in the field. */
  readonly place: { readonly left: number; readonly top: number };
  readonly onTake: (suggestion: Suggestion) => void;
}

export function Suggestions({ suggestions, chosen, place, onTake }: SuggestionsProps) {
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
