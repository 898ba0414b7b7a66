/** Queries of before: those that this tab ran, and those that were starred at the service. */
import { useEffect, useState } from 'preact/hooks';
import { Menu } from '../parts/menu.tsx';
import { formatCell } from '../parts/show-text.ts';
import { type Api, Refused, type StarredQuery } from './data/api.ts';
import { readHistory } from './data/history.ts';
import { datasetOf } from './data/query-text.ts';

export interface SavedQueriesProps {
  readonly api: Api | undefined;
  readonly query: string;
  readonly onChoose: (query: string) => void;
}

export function SavedQueries({ api, query, onChoose }: SavedQueriesProps) {
  if (!api) return null;
  return (
    <div class="saved">
      <Menu name="History" class="boxes">
        {(close) => <History onChoose={(text) => (close(), onChoose(text))} />}
      </Menu>
      <Menu name="Starred" class="boxes">
        {(close) => <Starred api={api} query={query} onChoose={(text) => (close(), onChoose(text))} />}
      </Menu>
    </div>
  );
}

function History({ onChoose }: { readonly onChoose: (query: string) => void }) {
  const [queries] = useState(readHistory);
  if (queries.length === 0) return <p class="soft">Queries that you run are listed here until you sign out or close the tab.</p>;
  return (
    <ul aria-label="Queries that were run">
      {queries.map((text) => (
        <li key={text}>
          <button type="button" class="quiet saved-query" title={text.slice(0, 2000)} onClick={() => onChoose(text)}>
            <bdi>{formatCell(text, 120)}</bdi>
          </button>
        </li>
      ))}
    </ul>
  );
}

interface StarredProps {
  readonly api: Api;
  readonly query: string;
  readonly onChoose: (query: string) => void;
}

function Starred({ api, query, onChoose }: StarredProps) {
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
        (error: unknown) => setProblem(error instanceof Refused ? error.message : String(error)),
      );
  };
  useEffect(() => attempt(Promise.resolve()), []);
  const text = query.trim();
  return (
    <>
      <form
        class="star"
        onSubmit={(event) => {
          event.preventDefault();
          attempt(api.star(name.trim(), text, datasetOf(text)).then(() => setName('')));
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
      {problem !== '' && (
        <p class="note" role="alert">
          {problem}
        </p>
      )}
      {starred?.length === 0 && <p class="soft">Nobody has starred a query yet.</p>}
      <ul aria-label="Starred queries">
        {starred?.map(({ id, name: title, query: { apl } }) => (
          <li key={id}>
            <button type="button" class="quiet saved-query" title={apl.slice(0, 2000)} onClick={() => onChoose(apl)}>
              <b>
                <bdi>{formatCell(title, 80)}</bdi>
              </b>
              <bdi>{formatCell(apl, 120)}</bdi>
            </button>
            <button type="button" class="quiet" aria-label={`Remove ${title.slice(0, 80)}`} onClick={() => attempt(api.unstar(id))}>
              ×
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
