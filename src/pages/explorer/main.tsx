/** The explorer of the service: datasets and fields on the left, a query on top, what it found below. */
import { render } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Api, keepToken, keptToken } from './data/api.ts';
import { Editor } from './editor/editor.tsx';
import { placeIn, type Problem } from './editor/find-problem.ts';
import { addToHistory, forgetHistory } from './data/history.ts';
import { readLink, writeLink } from './data/link-state.ts';
import { LiveTail } from './live-tail.tsx';
import { addFilter, datasetOf, quoteName } from './data/query-text.ts';
import { Results } from './results/results-view.tsx';
import { SavedQueries } from './saved-queries.tsx';
import { Sidebar } from './sidebar.tsx';
import { useCatalog } from './data/use-catalog.ts';
import { type Outcome, useQuery } from './data/use-query.ts';

/** A link may bring a token once; it does not stay in the address. */
function takeToken(): string {
  const { token } = readLink();
  if (token !== '') {
    keepToken(token);
    writeLink(readLink());
  }
  return keptToken();
}

function Page({ given }: { readonly given: string }) {
  const [token, setToken] = useState(given);
  const [query, setQuery] = useState(() => readLink().query);
  const [range, setRange] = useState(() => readLink().range);
  const api = useMemo(() => (token === '' ? undefined : new Api(token)), [token]);
  const { outcome, run } = useQuery(api);
  /** The query of the live tail; undefined while there is none. */
  const [tailed, setTailed] = useState<string | undefined>();
  const catalog = useCatalog(api);
  const dataset = datasetOf(query);
  const start = (text: string, over: string) => {
    setQuery(text);
    setRange(over);
    setTailed(undefined);
    if (api) addToHistory(text);
    writeLink({ query: text, range: over });
    run(text, over);
  };
  // Without a token nothing of what was found stays in sight.
  useEffect(() => run(query, range), [api]);
  useEffect(() => {
    const follow = () => {
      const link = readLink();
      start(link.query, link.range);
    };
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, [api]);
  const filter = (condition: string) => start(addFilter(query, condition), range);
  return (
    <>
      <header>
        <span class="wordmark">Tailrace</span>
        <TokenField
          token={token}
          onChange={(next) => {
            keepToken(next);
            if (next === '') forgetHistory();
            setTailed(undefined);
            setToken(next);
          }}
        />
      </header>
      <div class="columns">
        <Sidebar
          api={api}
          catalog={catalog}
          dataset={dataset}
          range={range}
          onDataset={(name) => start(quoteName(name), range)}
          onFilter={filter}
        />
        <main>
          <h1 class="visually-hidden">Explorer</h1>
          <SavedQueries api={api} query={query} onChoose={(text) => start(text, range)} />
          <Editor
            query={query}
            range={range}
            isRunning={outcome.kind === 'running'}
            canRun={api !== undefined}
            known={{
              datasets: catalog.datasets?.map(({ name }) => name) ?? [],
              fields: (dataset === undefined ? undefined : catalog.infos[dataset]?.fields) ?? [],
            }}
            refused={refusedIn(outcome, query)}
            onEdit={setQuery}
            onRun={start}
            onTail={() => setTailed(query)}
          />
          {api && tailed !== undefined ? (
            <LiveTail api={api} query={tailed} onFilter={filter} onStop={() => start(query, range)} />
          ) : (
            <Results
              api={api}
              outcome={
                outcome.kind === 'none' && catalog.problem !== ''
                  ? { kind: 'failed', query: '', message: catalog.problem, place: undefined }
                  : outcome
              }
              onFilter={filter}
              onRange={(over) => start(query, over)}
            />
          )}
        </main>
      </div>
    </>
  );
}

function refusedIn(outcome: Outcome, query: string): Problem | undefined {
  if (outcome.kind !== 'failed' || outcome.query !== query || !outcome.place) return undefined;
  return { message: '', ...placeIn(query, outcome.place.line, outcome.place.column) };
}

function TokenField({ token, onChange }: { readonly token: string; readonly onChange: (token: string) => void }) {
  const [typed, setTyped] = useState('');
  if (token !== '')
    return (
      <div class="token">
        <span class="soft">Signed in with {token.slice(0, 9)}…</span>
        <button type="button" onClick={() => onChange('')}>
          Sign out
        </button>
      </div>
    );
  return (
    <form
      class="token"
      onSubmit={(event) => {
        event.preventDefault();
        onChange(typed.trim());
      }}
    >
      <label for="token">Token</label>
      <input
        id="token"
        type="password"
        autocomplete="off"
        placeholder="xaat-…"
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      <button type="submit" class="primary">
        Sign in
      </button>
    </form>
  );
}

const page = document.querySelector('#page')!;
render(<Page given={takeToken()} />, page);
