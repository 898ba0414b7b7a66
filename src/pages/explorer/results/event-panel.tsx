/** One row with everything that it holds, as text. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatCount, formatExactTime, formatMany, nameMany } from '../../parts/format.ts';
import { showHidden } from '../../parts/show-text.ts';
import type { CellValue } from '../data/api.ts';
import type { FieldFilter } from '../data/filters.ts';

/** Longer values, and more fields, are shown when they are asked for. */
const MOST_CHARACTERS = 2000;
const MOST_FIELDS = 200;
/** What a button shows at most: drawing more would freeze the page. */
const MOST_DRAWN = 100_000;

export interface EventPanelProps {
  readonly event: readonly (readonly [name: string, value: CellValue])[];
  /** Fields whose values are times. */
  readonly times: ReadonlySet<string>;
  readonly canFilter: boolean;
  readonly onFilter: (filter: FieldFilter) => void;
  readonly onClose: () => void;
  /** Shown above the fields. */
  readonly children?: ComponentChildren;
}

export function EventPanel({ event, times, canFilter, onFilter, onClose, children }: EventPanelProps) {
  const [isWhole, setWhole] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const isTime = (name: string, value: CellValue): value is string => times.has(name) && typeof value === 'string';
  const fields = isWhole ? event : event.slice(0, MOST_FIELDS);
  return (
    <section
      class="surface panel"
      aria-labelledby="panel-heading"
      onKeyDown={({ key }) => void (key === 'Escape' && onClose())}
    >
      <div class="panel-head">
        <h2 id="panel-heading" ref={heading} tabIndex={-1}>
          Event <small>{formatMany(event.length, 'field')}</small>
        </h2>
        <button type="button" class="quiet" aria-label="Close the event" onClick={onClose}>
          ×
        </button>
      </div>
      {children}
      <dl>
        {fields.map(([name, value]) => (
          <div key={name}>
            <dt>
              <bdi>{showHidden(name.slice(0, 200))}</bdi>
              {canFilter && canBeCompared(value) && (
                <span>
                  {(['filter', 'leave out'] as const).map((what) => (
                    <button
                      key={what}
                      type="button"
                      class="quiet"
                      aria-label={`${what === 'filter' ? 'filter by' : what} this ${name.slice(0, 100)}`}
                      onClick={() => onFilter({ name, value, ...(what === 'leave out' && { isLeftOut: true }) })}
                    >
                      {what}
                    </button>
                  ))}
                </span>
              )}
            </dt>
            <dd class="mono" {...(isTime(name, value) ? { title: value } : {})}>
              <LongText
                text={
                  isTime(name, value)
                    ? formatExactTime(value)
                    : typeof value === 'string'
                      ? value
                      : JSON.stringify(value)
                }
              />
            </dd>
          </div>
        ))}
      </dl>
      {fields.length < event.length && (
        <button type="button" onClick={() => setWhole(true)}>
          Show {formatCount(event.length - fields.length)} more {nameMany(event.length - fields.length, 'field')}
        </button>
      )}
    </section>
  );
}

function canBeCompared(value: CellValue): boolean {
  return typeof value === 'string' ? value.length <= 500 : typeof value !== 'object';
}

function LongText({ text }: { readonly text: string }) {
  const [most, setMost] = useState(MOST_CHARACTERS);
  return (
    <>
      <bdi>{showHidden(text.slice(0, most)).replaceAll('⏎', '⏎\n')}</bdi>
      {text.length > most && (
        <button type="button" class="quiet" disabled={most === MOST_DRAWN} onClick={() => setMost(MOST_DRAWN)}>
          … {formatCount(text.length)} characters{most === MOST_DRAWN ? '; copy the rows for the rest' : '; show more'}
        </button>
      )}
    </>
  );
}
