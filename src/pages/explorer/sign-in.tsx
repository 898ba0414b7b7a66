/** Who is signed in: a token counts when the service has taken it, and no longer than it does. */
import { Alert } from '../parts/alert.tsx';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Api, keepToken, keptToken } from './data/api.ts';
import { readLink, writeLink } from './data/link-state.ts';

export interface Session {
  /** Undefined while nobody is signed in. */
  readonly api: Api | undefined;
  readonly token: string;
  /** The service answered to it. */
  readonly isTaken: boolean;
  /** Why the last token was refused; empty where that is not known. */
  readonly problem: string;
  readonly use: (token: string) => void;
}

/** A link may bring a token once; it does not stay in the address. */
function takeToken(): string {
  const { token } = readLink();
  if (token !== '') {
    keepToken(token);
    writeLink(readLink());
  }
  return keptToken();
}

export function useSession(): Session {
  const [token, setToken] = useState(takeToken);
  const [isTaken, setTaken] = useState(false);
  const [problem, setProblem] = useState('');
  const use = (next: string) => {
    keepToken(next);
    setTaken(false);
    setProblem('');
    setToken(next);
  };
  const api = useMemo(() => {
    if (token === '') return undefined;
    return new Api(token, (refusal) => {
      // An answer to a token that was given back says nothing.
      if (keptToken() !== token) return;
      if (refusal === undefined) return setTaken(true);
      use('');
      setProblem(refusal);
    });
  }, [token]);
  return { api, token, isTaken, problem, use };
}

export function SignIn({ session, onSignOut }: { readonly session: Session; readonly onSignOut: () => void }) {
  const { token, isTaken, problem, use } = session;
  const [typed, setTyped] = useState('');
  // Who signed in goes on with a query.
  useEffect(() => {
    if (!isTaken || typed === '') return;
    setTyped('');
    document.querySelector<HTMLElement>('#query')?.focus();
  }, [isTaken]);
  if (token !== '')
    return (
      <div class="token">
        <span class="soft">{isTaken ? `Signed in with ${token.slice(0, 9)}…` : 'Signing in …'}</span>
        <button type="button" onClick={onSignOut}>
          Sign out
        </button>
      </div>
    );
  return (
    <form
      class="token"
      onSubmit={(event) => {
        event.preventDefault();
        use(typed.trim());
      }}
    >
      <Alert text={problem} isNote />
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
