/**
 * The state as sources see it. The database knows a stream's spans once they are committed; spans in an open batch, or in one that
 * waits for its commit, are unsettled too: `max_age` may be an hour, and the disk may be full. If such a stream were forgotten, its
 * file would be read from the start when it comes back.
 */
import type { StreamStore } from '../../core/stream.ts';
import type { State } from '../../state/database/store.ts';

/** `openSpans` gives the spans that are accepted and not committed; `forgotten` is called for every forgotten stream. */
export function createStreamView(
  state: Pick<State, 'streams' | 'hasStarted' | 'persist' | 'lose'>,
  openSpans: () => Iterable<{ readonly stream: string }>,
  forgotten: (stream: string) => void = () => {},
): StreamStore {
  const { streams } = state;
  const isSettled = (stream: string): boolean => {
    if (!streams.isSettled(stream)) return false;
    for (const span of openSpans()) if (span.stream === stream) return false;
    return true;
  };
  return {
    isSettled,
    mint: (source, path, identity, startAt) => streams.mint(source, path, identity, startAt),
    list: (source) => streams.list(source),
    hasStarted: (source) => state.hasStarted(source),
    persist: () => state.persist(),
    begin: (...given) => streams.begin(...given),
    identify: (stream, identity) => streams.identify(stream, identity),
    see: (stream, size) => streams.see(stream, size),
    lose: (loss) => state.lose(loss),
    noteCompressedEnd: (stream, end) => streams.noteCompressedEnd(stream, end),
    forget: (stream) => {
      if (!isSettled(stream)) return;
      streams.forget(stream);
      forgotten(stream);
    },
  };
}
