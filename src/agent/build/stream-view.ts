/**
 * The state as sources see it. The database knows a stream's spans once they are committed; spans in an open batch, or in one that
 * waits for its commit, are unsettled too: `max_age` may be an hour, and the disk may be full. If such a stream were forgotten, its
 * file would be read from the start when it comes back.
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
    noteCompressedEnd: (stream, end) => state.noteCompressedEnd(stream, end),
    forget: (stream) => {
      if (!isSettled(stream)) return;
      state.forget(stream);
      forgotten(stream);
    },
  };
}
