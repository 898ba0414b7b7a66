/** The queries that this tab ran, newest first; gone with its session, or on signing out. */

const KEPT = 'tailrace-history';
const MOST = 50;
/** Longer texts are not kept: the browser's room for a session is small. */
const MOST_CHARACTERS = 20_000;

export function readHistory(): string[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEPT) ?? '[]');
    return Array.isArray(kept) ? kept.filter((query) => typeof query === 'string') : [];
  } catch {
    return [];
  }
}

export function addToHistory(query: string): void {
  const text = query.trim();
  if (text === '' || text.length > MOST_CHARACTERS) return;
  const next = [text, ...readHistory().filter((other) => other !== text)].slice(0, MOST);
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(next));
  } catch {
    // No room: the history stays as it was.
  }
}

export function forgetHistory(): void {
  sessionStorage.removeItem(KEPT);
}
