/**
 * What sources see of the state. The database knows a stream's spans once they are committed; those in a batch that is
 * still open, or that waits for its commit, are not settled either: `max_age` may be an hour, and a disk may be full. A
 * stream that was forgotten meanwhile would be read from its beginning when its file comes back.
 */
import type { StreamStore } from '../../core/stream.ts';

/** `openSpans` gives the spans that are accepted and not committed; `forgotten` is called for every forgotten stream. */
export function createStreamView(
  state: Required<StreamStore>,
  openSpans: () => Iterable<{ readonly stream: string }>,
  forgotten: (stream: string) => void = () => {},
): StreamStore {
  const isSettled = (stream: string): boolean => {
    if (!state.isSettled(stream)) return false;
    for (const span of openSpans()) if (span.stream === stream) return false;
    return true;
  };
  return {
    isSettled,
    mint: (source, path, identity, startAt) => state.mint(source, path, identity, startAt),
    list: (source) => state.list(source),
    hasStarted: (source) => state.hasStarted(source),
    persist: () => state.persist(),
    begin: (stream, startAt, tail) => state.begin(stream, startAt, tail),
    identify: (stream, identity) => state.identify(stream, identity),
    see: (stream, size) => state.see(stream, size),
    noteArchiveEnd: (stream, end) => state.noteArchiveEnd(stream, end),
    forget: (stream) => {
      if (!isSettled(stream)) return;
      state.forget(stream);
      forgotten(stream);
    },
  };
}
