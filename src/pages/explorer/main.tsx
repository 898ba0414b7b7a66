/** The explorer of the service: datasets and fields on the left, a query on top, what it found below. */
import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useZone } from '../parts/zone-picker.tsx';
import type { KeptQuery } from './data/api.ts';
import { Editor } from './editor/editor.tsx';
import { placeIn, type QueryProblem } from './editor/find-problem.ts';
import { addToHistory, forgetHistory } from './data/history.ts';
import { boundsOf, type LinkState, rangeUpTo, readLink, writeLink } from './data/link-state.ts';
import { FirstSteps } from './first-steps.tsx';
import { LiveTail } from './live/live-tail.tsx';
import { addFilter, type FieldFilter } from './data/filters.ts';
import { leadingDataset, quoteName, titleOf } from './data/query-text.ts';
import { Results } from './results/results-view.tsx';
import { SavedQueries } from './saved-queries.tsx';
import { Sidebar } from './sidebar.tsx';
import { SignIn, useSession } from './sign-in.tsx';
import { isEmpty, knownFields, newestOf, useCatalog } from './data/use-catalog.ts';
import { type QueryOutcome, useQuery } from './data/use-query.ts';

function Page() {
  const session = useSession();
  const { api } = session;
  const zone = useZone();
  /** The view, which the address holds. */
  const [link, setLink] = useState<LinkState>(readLink);
  const { range } = link;
  /** The editor's text. */
  const [query, setQuery] = useState(link.query);
  /** The same at once: an effect may be of a drawing before the last key. */
  const typed = useRef(query);
  const edit = (text: string) => {
    typed.current = text;
    setQuery(text);
  };
  const { outcome, run, stop, cancel } = useQuery(api);
  const dataset = leadingDataset(query);
  const catalog = useCatalog(api, dataset, outcome);
  const show = (next: LinkState, isStep: boolean) => {
    setLink(next);
    writeLink(next, isStep);
  };
  const open = (next: KeptQuery, { isLive = false, isStep = true } = {}) => {
    edit(next.query);
    show({ ...next, isLive, event: '' }, isStep);
    if (isLive) stop();
    else run(next.query, next.range);
  };
  const start = (text: string, over: string, isLive = false) => {
    const columns = leadingDataset(text) === leadingDataset(link.query) ? link.columns : [];
    const next = { query: text, range: over, columns };
    if (api) addToHistory(next);
    open(next, { isLive });
  };
  // Without a token all results disappear.
  useEffect(() => {
    if (!api || !link.isLive) run(query, range);
  }, [api]);
  useEffect(() => {
    const follow = () => {
      const next = readLink();
      setLink(next);
      edit(next.query);
      if (next.isLive) stop();
      else run(next.query, next.range);
    };
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, [api]);
  useEffect(() => {
    document.title = api ? titleOf(link.query, link.isLive) : titleOf('', false);
  }, [api, link]);
  // Where nothing is asked yet, the dataset with the newest event is, at that event.
  const newest = newestOf(catalog);
  const hasOpened = useRef(query !== '');
  useEffect(() => {
    if (!api || !newest || hasOpened.current) return;
    hasOpened.current = true;
    if (typed.current !== '') return;
    const over = newest.ms < boundsOf(range, Date.now())[0] ? rangeUpTo(range, newest.ms) : range;
    open({ query: quoteName(newest.name), range: over, columns: [] }, { isStep: false });
  }, [api, newest]);
  const filter = (added: FieldFilter) => start(addFilter(query, added), range, link.isLive);
  return (
    <>
      <header>
        <a
          class="skip"
          href="#query"
          onClick={(event) => (event.preventDefault(), document.querySelector<HTMLElement>('#query')?.focus())}
        >
          To the query
        </a>
        <span class="wordmark">Tailrace</span>
        <SignIn
          session={session}
          onSignOut={() => {
            forgetHistory();
            show({ ...link, isLive: false, event: '' }, false);
            session.use('');
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
          <SavedQueries
            api={api}
            now={{ query, range, columns: link.columns }}
            onChoose={(chosen) => {
              addToHistory(chosen);
              open(chosen);
            }}
          />
          <Editor
            query={query}
            range={range}
            zone={zone}
            isRunning={outcome.kind === 'running'}
            canRun={api !== undefined}
            known={{
              datasets: catalog.datasets?.map(({ name }) => name) ?? [],
              fields: knownFields(catalog, dataset),
            }}
            refused={refusedIn(outcome, query)}
            onEdit={edit}
            onRun={start}
            onCancel={cancel}
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
          ) : api && outcome.kind === 'none' && isEmpty(catalog) ? (
            <FirstSteps dataset={catalog.datasets?.[0]?.name} onAsk={catalog.refresh} />
          ) : (
            <Results
              api={api}
              outcome={
                outcome.kind === 'none' && catalog.problem !== ''
                  ? { kind: 'failed', query, message: catalog.problem, place: undefined }
                  : outcome
              }
              query={query}
              newestMs={dataset === undefined ? undefined : newestMsOf(catalog.infos[dataset])}
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

function newestMsOf(info: { readonly numEvents: number; readonly maxTime: string } | undefined): number | undefined {
  return info && info.numEvents > 0 ? Date.parse(info.maxTime) : undefined;
}

function refusedIn(outcome: QueryOutcome, query: string): QueryProblem | undefined {
  if (outcome.kind !== 'failed' || outcome.query !== query || !outcome.place) return undefined;
  return { message: '', ...placeIn(query, outcome.place.line, outcome.place.column) };
}

render(<Page />, document.querySelector('#page')!);
