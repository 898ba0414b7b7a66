/** Queries of before, each with its range and columns: those that this browser ran, and those that were starred at the service. */
import { Alert } from '../parts/alert.tsx';
import { useEffect, useState } from 'preact/hooks';
import { formatTime } from '../parts/format.ts';
import { Menu } from '../parts/menu.tsx';
import { formatCell } from '../parts/show-text.ts';
import type { StarredQuery } from '../../client/api-types.ts';
import type { Api, KeptQuery } from './data/api.ts';
import { readHistory } from './data/history.ts';
import { isRange, nameRange } from './data/link-state.ts';
import { leadingDataset } from './data/query-text.ts';

export interface SavedQueriesProps {
  readonly api: Api | undefined;
  /** The query to star. */
  readonly now: KeptQuery;
  readonly onChoose: (query: KeptQuery) => void;
}

export function SavedQueries({ api, now, onChoose }: SavedQueriesProps) {
  if (!api) return null;
  return (
    <div class="saved">
      <Menu name="History" class="boxes">
        {(close) => <History onChoose={(chosen) => (close(), onChoose(chosen))} />}
      </Menu>
      <Menu name="Starred" class="boxes">
        {(close) => <Starred api={api} now={now} onChoose={(chosen) => (close(), onChoose(chosen))} />}
      </Menu>
    </div>
  );
}

function History({ onChoose }: Pick<SavedQueriesProps, 'onChoose'>) {
  const [queries] = useState(readHistory);
  if (queries.length === 0) return <p class="soft">Queries that you run are listed here until you sign out.</p>;
  return (
    <ul aria-label="Queries that were run">
      {queries.map((past) => (
        <li key={`${past.range} ${past.query}`}>
          <button
            type="button"
            class="quiet saved-query"
            title={past.query.slice(0, 2000)}
            onClick={() => onChoose(past)}
          >
            <bdi>{formatCell(past.query, 120)}</bdi>
            <small>
              {formatTime(past.at)} · {nameRange(past.range)}
            </small>
          </button>
        </li>
      ))}
    </ul>
  );
}

interface StarredProps extends Omit<SavedQueriesProps, 'api'> {
  readonly api: Api;
}

function Starred({ api, now, onChoose }: StarredProps) {
  const [starred, setStarred] = useState<readonly StarredQuery[] | undefined>();
  const [problem, setProblem] = useState('');
  const [name, setName] = useState('');
  const attempt = (work: Promise<unknown>) => {
    work
      .then(() => api.starred())
      .then(
        (found) => {
          setStarred(found);
          setProblem('');
        },
        (error: unknown) => setProblem(String(error)),
      );
  };
  useEffect(() => attempt(Promise.resolve()), []);
  const text = now.query.trim();
  return (
    <>
      <form
        class="star"
        onSubmit={(event) => {
          event.preventDefault();
          attempt(api.star(name.trim(), { ...now, query: text }, leadingDataset(text)).then(() => setName('')));
        }}
      >
        <label for="star-name" class="visually-hidden">
          Name of the query
        </label>
        <input
          id="star-name"
          placeholder="Name of this query"
          maxLength={100}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <button type="submit" disabled={name.trim() === '' || text === ''}>
          Star it
        </button>
      </form>
      <Alert text={problem} isNote />
      {starred?.length === 0 && <p class="soft">Nobody has starred a query yet.</p>}
      <ul aria-label="Starred queries">
        {starred?.map(({ id, name: title, query: { apl }, metadata: { range, columns } }) => (
          <li key={id}>
            <button
              type="button"
              class="quiet saved-query"
              title={apl.slice(0, 2000)}
              onClick={() =>
                onChoose({ query: apl, range: isRange(range) ? range : now.range, columns: readColumns(columns) })
              }
            >
              <b>
                <bdi>{formatCell(title, 80)}</bdi>
              </b>
              <bdi>{formatCell(apl, 120)}</bdi>
              {isRange(range) && <small>{nameRange(range)}</small>}
            </button>
            <button
              type="button"
              class="quiet"
              aria-label={`Remove ${title.slice(0, 80)}`}
              onClick={() => attempt(api.unstar(id))}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

/** As `Api.star` writes them; none of a star that something else made. */
function readColumns(text: string | undefined): readonly string[] {
  try {
    const columns: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(columns) ? columns.filter((name) => typeof name === 'string') : [];
  } catch {
    return [];
  }
}
