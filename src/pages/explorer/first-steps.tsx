/** What an empty service shows: the lines that bring the first events, and one to try it. It asks again until there is one. */
import { useEffect } from 'preact/hooks';

const ASK_EVERY_MS = 2000;

export interface FirstStepsProps {
  /** One that waits for events; undefined where none does. */
  readonly dataset: string | undefined;
  readonly onAsk: () => void;
}

export function FirstSteps({ dataset, onAsk }: FirstStepsProps) {
  useEffect(() => {
    const timer = setInterval(onAsk, ASK_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  const url = location.origin;
  return (
    <div class="surface first-steps">
      <h2>No events yet</h2>
      <p>Ship the logs of a machine. The token is the ingest token, which tailrace serve printed at its first start.</p>
      <pre tabIndex={0} aria-label="Lines to type">{`export TAILRACE_TOKEN=…
tailrace init --url ${url}
tailrace run`}</pre>
      {dataset !== undefined && (
        <>
          <p>Or send one event by hand:</p>
          <pre
            tabIndex={0}
            aria-label="One event by hand"
          >{`curl ${url}/v1/ingest/${encodeURIComponent(dataset)} -H "Authorization: Bearer $TAILRACE_TOKEN" -H "Content-Type: application/json" -d '[{"message":"hello"}]'`}</pre>
        </>
      )}
      <p role="status">Waiting for the first event …</p>
    </div>
  );
}
