/**
 * The status page and its data: shows the running agent to everyone who reaches the telemetry address. Loaded with the first
 * request for it. Nothing here changes state, everything is bounded, and no secret goes out.
 */
import type { IncomingMessage } from 'node:http';
import { type PageFileKind, PAGE_HEADERS, readPageFile } from '../web/page-files.ts';
import { hostOf, isOwnHost } from '../web/host-check.ts';
import { printYaml } from '../config/yaml/print.ts';
import { codeOf, messageOf } from '../core/errors.ts';
import { hideSecretsIn } from '../core/text/hide-secrets.ts';
import { hideSecrets } from './hide-secrets.ts';
import type { History } from './history.ts';
import type { Observed } from './observed.ts';
import type { ReplyCache } from './reply-cache.ts';
import { statusOf, type Status } from './status.ts';

/** A file of a source, and why it is not read where it is not. */
export interface ListedSource {
  readonly source: string;
  readonly total: number;
  readonly files: readonly object[];
}

/** What the page asks of the agent, beside its numbers. */
export interface PageSource {
  /** The configuration in force, as one can write it. */
  readonly config: object;
  /** Values that must not be shown wherever they turn up. */
  readonly secrets: readonly string[];
  /** At most `limit` files of each source. */
  listFiles(limit: number): readonly ListedSource[];
  /** Each source's explanation of a path. */
  explain(path: string): readonly object[];
  /** The newest dead letters without their events, at most `limit`. */
  listDeadLetters(limit: number): readonly object[];
  /** The next events of a source; undefined where the page shows none. Rejects where they cannot be had. */
  readonly tail: ((source: string) => Promise<TailView>) | undefined;
}

/** Some of the events that a source accepted within about a second. */
export interface TailView {
  /** Events that the source had accepted at its beginning and at its end, in all. */
  readonly from: number;
  readonly to: number;
  /** How many of them were checked. */
  readonly looked: number;
  /** What became of those, as NDJSON. */
  readonly events: readonly string[];
}

/** What `/status.json` holds. */
export interface PageStatus extends Status {
  readonly showsEvents: boolean;
}

export interface StatusPageOptions extends PageSource {
  /** The host that telemetry listens on. */
  readonly host: string;
  readonly history: History;
  readonly cache: ReplyCache;
  observe(): Observed;
}

export interface PageReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

const MAX_FILES = 200;
const MAX_LETTERS = 50;
/** No file system takes a longer one. */
const MAX_PATH = 4096;

export async function answerStatusPage(
  path: string,
  request: IncomingMessage,
  options: StatusPageOptions,
): Promise<PageReply> {
  if (!isOwnHost(hostOf(request), options.host))
    return refuse(
      403,
      'this server is not known by that name; open the page by its address, or by the host that telemetry.listen names',
    );
  const file = path === '/' ? 'html' : /^\/status-page\.(js|css)$/.exec(path)?.[1];
  if (file !== undefined) return fileReply(file as PageFileKind);
  if (path === '/tail.json') return tailReply(request, options);
  const key = path === '/explain.json' ? (request.url ?? '') : '';
  return jsonReply(
    options.cache.get(path, key, () => hideSecretsIn(JSON.stringify(dataOf(path, request, options)), options.secrets)),
  );
}

function jsonReply(body: string): PageReply {
  return { status: 200, headers: { ...PAGE_HEADERS, 'content-type': 'application/json' }, body };
}

async function tailReply(request: IncomingMessage, { tail, secrets }: StatusPageOptions): Promise<PageReply> {
  if (!tail) return refuse(404, 'events are not shown here; telemetry.live_tail: true shows them');
  const source = new URLSearchParams(request.url?.split('?', 2)[1]).get('source') ?? '';
  if (source === '') return refuse(400, 'name a source, such as /tail.json?source=app');
  try {
    return jsonReply(hideSecretsIn(JSON.stringify(await tail(source)), secrets));
  } catch (error) {
    if (codeOf(error) !== 'E_TAP') throw error;
    return refuse(409, messageOf(error));
  }
}

function fileReply(kind: PageFileKind): PageReply {
  try {
    return { status: 200, ...readPageFile('status-page', kind) };
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return refuse(
      503,
      'this checkout holds no built page: npm run build writes it; /metrics, /healthz and /readyz work without it',
    );
  }
}

function refuse(status: number, text: string): PageReply {
  return { status, headers: { ...PAGE_HEADERS, 'content-type': 'text/plain; charset=utf-8' }, body: `${text}\n` };
}

function dataOf(path: string, request: IncomingMessage, options: StatusPageOptions): unknown {
  switch (path) {
    case '/history.json':
      return options.history.view();
    case '/files.json':
      return options.listFiles(MAX_FILES);
    case '/explain.json': {
      const wanted = new URLSearchParams(request.url?.split('?', 2)[1]).get('path') ?? '';
      return wanted === '' || wanted.length > MAX_PATH || !wanted.startsWith('/') || wanted.includes('\0')
        ? []
        : options.explain(wanted);
    }
    case '/dead-letters.json':
      return options.listDeadLetters(MAX_LETTERS);
    case '/config.json':
      return { yaml: printYaml(hideSecrets(options.config)) };
    default:
      return { ...statusOf(options.observe()), showsEvents: options.tail !== undefined } satisfies PageStatus;
  }
}
