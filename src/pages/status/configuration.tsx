/** The configuration in force, as the agent understood it. The agent hides what is secret before it answers. */
import { useEffect, useState } from 'preact/hooks';
import { getJson } from './use-agent.ts';

export function Configuration({ hash }: { readonly hash: string }) {
  const [isOpen, setOpen] = useState(false);
  const [config, setConfig] = useState('');
  useEffect(() => {
    if (isOpen)
      getJson<unknown>('config.json').then(
        (value) => setConfig(JSON.stringify(value, undefined, 2)),
        () => setConfig(''),
      );
  }, [isOpen, hash]);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="surface">
        <h2>Configuration</h2> <span>in force, with every default; secrets are hidden</span>
      </summary>
      <p class="lead">
        Its digest is <code>{hash}</code>. Sizes are in bytes, times in milliseconds.
      </p>
      <pre class="surface" tabIndex={0} aria-label="Configuration in force">
        {config}
      </pre>
    </details>
  );
}
