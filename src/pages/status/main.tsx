/** The status page of an agent: its sources, its sinks, and its problems. */
import { type ComponentChildren, render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { formatDuration, formatTime } from '../parts/format.ts';
import { useZone, ZonePicker } from '../parts/zone-picker.tsx';
import { DeadLetters } from './dead-letters.tsx';
import { Files } from './files.tsx';
import { LiveTail } from './live-tail.tsx';
import { Numbers } from './numbers.tsx';
import { Sinks } from './sinks.tsx';
import { Sources } from './sources.tsx';
import { summarize } from './summary.ts';
import { type AgentView, useAgent, getJson } from './use-agent.ts';

function Page() {
  const view = useAgent();
  const { status, rates, history } = view;
  const zone = useZone();
  const summary = summarize(view);
  useEffect(() => {
    document.title = `${summary.title} · Tailrace`;
  }, [summary.title]);
  return (
    <>
      <Head view={view} zone={zone} />
      <main>
        <div class={`surface banner banner-${summary.level}`} role="status">
          <span class={`dot dot-${summary.level}`} aria-hidden="true" />
          <div>
            <h1>{summary.title}</h1>
            {summary.details.map((detail) => (
              <p key={detail}>{detail}</p>
            ))}
          </div>
        </div>
        {status && (
          <div class={view.goneSince === undefined ? '' : 'stale'}>
            <Numbers status={status} rates={rates} history={history} />
            <Sinks status={status} rates={rates} history={history} />
            <Sources status={status} rates={rates} history={history} />
            <DeadLetters status={status} />
            <Files />
            {status.showsEvents && <LiveTail sources={status.sources.map(({ id }) => id)} />}
            <Configuration hash={status.config.hash} />
          </div>
        )}
      </main>
    </>
  );
}

interface HeadProps {
  readonly view: AgentView;
  readonly zone: ReturnType<typeof useZone>;
}

function Head({ view: { status, goneSince }, zone }: HeadProps) {
  return (
    <header>
      <span class="wordmark">Tailrace</span>
      {status && (
        <dl class="facts">
          <Fact name="version">{status.version}</Fact>
          <Fact name="up">{formatDuration(status.uptimeSeconds * 1000)}</Fact>
          <Fact name="process">{status.pid}</Fact>
          <div class="fact-file">
            <dt>configuration</dt>
            <dd title={status.config.file}>{status.config.file}</dd>
          </div>
          <Fact name={goneSince === undefined ? 'as of' : 'last seen'}>{formatTime(goneSince ?? status.nowMs)}</Fact>
          <Fact name="times in">
            <ZonePicker {...zone} />
          </Fact>
        </dl>
      )}
    </header>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

render(<Page />, document.querySelector('#page')!);

/** The configuration in force, as the agent understood it. The agent hides secrets before it answers. */
function Configuration({ hash }: { readonly hash: string }) {
  const [isOpen, setOpen] = useState(false);
  const [config, setConfig] = useState('');
  useEffect(() => {
    if (isOpen)
      getJson<{ readonly yaml: string }>('config.json').then(
        ({ yaml }) => setConfig(yaml),
        () => setConfig(''),
      );
  }, [isOpen, hash]);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="surface">
        <h2>Configuration</h2> <span>in force, with every default; secrets are hidden</span>
      </summary>
      <p class="lead">
        Its digest is <code>{hash}</code>. As one can write it; keys without a value and a default are left out.
      </p>
      <pre class="surface" tabIndex={0} aria-label="Configuration in force">
        {config}
      </pre>
    </details>
  );
}
