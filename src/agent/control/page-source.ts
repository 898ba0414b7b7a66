/** What the status page asks of a running agent beside its numbers: files, dead letters, the configuration. Reads only. */
import type { Config } from '../../config/model.ts';
import type { DeadLetters } from '../../state/dead-letters.ts';
import type { PageSource } from '../../telemetry/status-page.ts';
import { describeDelay } from './observe.ts';
import { createLiveTail } from './live-tail.ts';
import type { Components } from '../build/components.ts';
import type { Shapers } from '../build/shapers.ts';

/** A file of letters that is longer is not read for the page. */
const MAX_LETTERS_BYTES = 1024 * 1024;

/** What each source that reads files says of a path. */
export function explainPath(components: Components, path: string): object[] {
  return [...components.sources.values()].flatMap((pipeline) =>
    pipeline.source.explain
      ? [{ source: pipeline.source.id, ...pipeline.source.explain(path), ...describeDelay(pipeline, components.sinks) }]
      : [],
  );
}

/** The same for a path that is there and one that is not: whoever asks over HTTP may not be allowed to know. */
const UNREACHED = {
  isRead: false,
  reason: 'no pattern leads to it, and nothing more is said here of such a path',
  fix: 'run `tailrace explain` with the path, as the user of the agent or as root',
};

/** A reload replaces them. */
export function pageSourceOf(
  inForce: { readonly config: Config },
  components: Components,
  deadLetters: DeadLetters,
  shapers: () => Shapers | undefined,
): PageSource {
  const liveTail = createLiveTail(components, shapers);
  return {
    get config() {
      return inForce.config.written;
    },
    get secrets() {
      return [...components.sinks.values()].flatMap(({ sink }) => sink.secrets?.() ?? []);
    },
    listFiles: (limit) =>
      [...components.sources.values()].flatMap(({ source }) => {
        const listed = source.listFiles?.(limit);
        return listed ? [{ source: source.id, ...listed }] : [];
      }),
    explain: (path) => {
      const sources = [...components.sources.values()].flatMap(({ source }) => (source.explain ? [source] : []));
      if (sources.some((source) => source.reaches?.(path) === true)) return explainPath(components, path);
      return sources.map(({ id }) => ({ source: id, path, ...UNREACHED }));
    },
    listDeadLetters: (limit) => listNewest(deadLetters, limit),
    get tail() {
      return inForce.config.telemetry.liveTail ? liveTail : undefined;
    },
  };
}

/** Without their events, and without files that are damaged or huge: `tailrace dead-letters` shows those. */
function listNewest(deadLetters: DeadLetters, limit: number): object[] {
  const listed: object[] = [];
  let bytesLeft = MAX_LETTERS_BYTES;
  for (const { id, bytes } of deadLetters.files().reverse()) {
    bytesLeft -= bytes;
    if (bytesLeft < 0 || listed.length >= limit) break;
    const letters = readOrNone(deadLetters, id);
    for (const { about } of letters) {
      const { sink, dataset, source, file, offset, reason, status, time } = about;
      if (listed.length < limit)
        listed.push({ sink, dataset, source, file, offset, status, time, reason: reason.slice(0, 300) });
    }
  }
  return listed;
}

function readOrNone(deadLetters: DeadLetters, id: string) {
  try {
    return deadLetters.read(id) ?? [];
  } catch {
    return [];
  }
}
