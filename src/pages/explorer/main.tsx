/** The explorer of the service: datasets and fields on the left, a query on top, what it found below. */
import { render } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useZone } from '../parts/zone-picker.tsx';
import { Api, keepToken, keptToken } from './data/api.ts';
import { Editor } from './editor/editor.tsx';
import { placeIn, type Problem } from './editor/find-problem.ts';
import { addToHistory, forgetHistory } from './data/history.ts';
import { type LinkState, readLink, writeLink } from './data/link-state.ts';
import { LiveTail } from './live/live-tail.tsx';
import { addFilter, type Filter } from './data/filters.ts';
import { datasetOf, quoteName } from './data/query-text.ts';
import { Results } from './results/results-view.tsx';
import { SavedQueries } from './saved-queries.tsx';
import { Sidebar } from './sidebar.tsx';
import { fieldsOf, useCatalog } from './data/use-catalog.ts';
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
  /** What is shown, and in the address. */
  const [link, setLink] = useState<LinkState>(readLink);
  const { range } = link;
  const zone = useZone();
  /** As it stands in the editor. */
  const [query, setQuery] = useState(link.query);
  const api = useMemo(() => (token === '' ? undefined : new Api(token)), [token]);
  const { outcome, run } = useQuery(api);
  const dataset = datasetOf(query);
  const catalog = useCatalog(api, dataset, outcome);
  const show = (next: LinkState, isStep: boolean) => {
    setLink(next);
    writeLink(next, isStep);
  };
  const start = (text: string, over: string, isLive = false) => {
    setQuery(text);
    if (api) addToHistory(text);
    const columns = datasetOf(text) === datasetOf(link.query) ? link.columns : [];
    show({ query: text, range: over, isLive, columns, event: '' }, true);
    if (!isLive) run(text, over);
  };
  // Without a token nothing of what was found stays in sight.
  useEffect(() => {
    if (!api || !link.isLive) run(query, range);
  }, [api]);
  useEffect(() => {
    const follow = () => {
      const next = readLink();
      setLink(next);
      setQuery(next.query);
      if (!next.isLive) run(next.query, next.range);
    };
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, [api]);
  const filter = (added: Filter) => start(addFilter(query, added), range, link.isLive);
  return (
    <>
      <header>
        <a class="skip" href="#query" onClick={(event) => (event.preventDefault(), document.querySelector<HTMLElement>('#query')?.focus())}>
          To the query
        </a>
        <span class="wordmark">Tailrace</span>
        <TokenField
          token={token}
          onChange={(next) => {
            keepToken(next);
            if (next === '') {
              forgetHistory();
              show({ ...link, isLive: false, event: '' }, false);
            }
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
            zone={zone}
            isRunning={outcome.kind === 'running'}
            canRun={api !== undefined}
            known={{
              datasets: catalog.datasets?.map(({ name }) => name) ?? [],
              fields: fieldsOf(catalog, dataset),
            }}
            refused={refusedIn(outcome, query)}
            onEdit={setQuery}
            onRun={start}
            onTail={() => start(query, range, true)}
          />
          {api && link.isLive ? (
            <LiveTail
              api={api}
              query={link.query}
              columns={link.columns}
              onLink={(part) => show({ ...link, ...part }, false)}
              onFilter={filter}
              onStop={() => start(query, range)}
            />
          ) : (
            <Results
              api={api}
              outcome={
                outcome.kind === 'none' && catalog.problem !== ''
                  ? { kind: 'failed', query: '', message: catalog.problem, place: undefined }
                  : outcome
              }
              link={link}
              onLink={(part) => show({ ...link, ...part }, false)}
              onFilter={filter}
              onRange={(over) => start(link.query, over)}
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
