/** The telemetry endpoint: /metrics, /healthz, /readyz and the status page, on a loopback port unless configured otherwise. */
import { createRequire } from 'node:module';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { codeOf, messageOf, TailraceError } from '../core/errors.ts';
import type { SinkHistograms } from './metrics.ts';
import { History, SAMPLE_EVERY_MS } from './history.ts';
import { findImbalance, type Observed, type ObservedBlock } from './observed.ts';
import { ReplyCache } from './reply-cache.ts';
import type { PageSource } from './status-page.ts';

// `require` instead of `import`: the latter costs 14 MB of memory more (docs/adr/0004).
const http: typeof import('node:http') = createRequire(import.meta.url)('node:http');

export interface TelemetryOptions {
  readonly listen: { readonly host: string; readonly port: number };
  readonly histograms: SinkHistograms;
  observe(): Observed;
  /** The message while the event loop stalled for long within the last minute. */
  stalled(): string | undefined;
  /** The status page's data besides numbers; undefined without a page. */
  readonly page?: PageSource | undefined;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/** The paths of the status page; src/telemetry/status-page.ts, which answers them, is loaded with the first request. */
const PAGE_PATH = /^\/(?:|status-page\.(?:js|css)|(?:status|history|files|explain|dead-letters|config|tail)\.json)$/;

export interface TelemetryServer {
  /** `http://host:port`. */
  readonly address: string;
  close(): Promise<void>;
}

/** Starts listening. Throws `E_TELEMETRY_LISTEN` when the address cannot be had. */
export async function startTelemetry(options: TelemetryOptions): Promise<TelemetryServer> {
  const { host, port } = options.listen;
  let registry: ReturnType<typeof import('./metrics.ts').createRegistry> | undefined;
  const pages: Record<string, (response: ServerResponse) => Promise<void> | void> = {
    '/metrics': async (response) => {
      registry ??= (await import('./metrics.ts')).createRegistry(() => options.observe(), options.histograms);
      reply(response, 200, await registry.render(), registry.contentType);
    },
    '/healthz': (response) => {
      const problems = [...findImbalance(options.observe()), options.stalled() ?? []].flat();
      replyJson(response, problems.length === 0 ? 200 : 503, {
        status: problems.length === 0 ? 'ok' : 'failing',
        problems,
      });
    },
    '/readyz': (response) => {
      const observed = options.observe();
      const paused = observed.sinks.flatMap(({ id, pauses }) =>
        [...pauses].map(([dataset, pause]) => ({ sink: id, dataset, ...pause })),
      );
      const waiting = observed.sources.flatMap(({ id, waiting }) => (waiting ? [{ source: id, ...waiting }] : []));
      const blocked = observed.sinks.flatMap(({ id, blocked }) => (blocked ? [describeBlocked(id, blocked)] : []));
      const ready = observed.started && paused.length + blocked.length === 0;
      const status = ready ? 'ready' : !observed.started ? 'starting' : paused.length > 0 ? 'paused' : 'blocked';
      const { reason, fix } = observed.checkpointRefusal ?? {};
      const unsaved = reason === undefined ? {} : { unsaved: { reason, fix } };
      replyJson(response, ready ? 200 : 503, {
        status,
        paused,
        ...(blocked.length > 0 ? { blocked } : {}),
        waiting,
        ...unsaved,
      });
    },
  };
  const history = options.page && new History();
  const cache = new ReplyCache(options.now ?? (() => performance.now()));
  const sampling = history && setInterval(() => history.sample(options.observe(), Date.now()), SAMPLE_EVERY_MS);
  sampling?.unref();
  const answerPage = async (path: string, request: IncomingMessage, response: ServerResponse) => {
    const { answerStatusPage } = await import('./status-page.ts');
    const { status, headers, body } = await answerStatusPage(path, request, {
      ...options.page!,
      cache,
      host,
      history: history!,
      observe: () => options.observe(),
    });
    response.writeHead(status, headers);
    response.end(body);
  };
  const server = http.createServer((request: IncomingMessage, response: ServerResponse) => {
    const path = (request.url ?? '/').split('?', 1)[0]!;
    const page =
      pages[path] ??
      (options.page && PAGE_PATH.test(path) ? (response) => answerPage(path, request, response) : undefined);
    if (!page) {
      const hint = path === '/' ? 'the status page is switched off here; telemetry.page: true serves it' : 'not here';
      return reply(response, 404, `${hint}; try /metrics, /healthz or /readyz\n`, 'text/plain');
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') return reply(response, 405, 'GET only\n', 'text/plain');
    (async () => page(response))().catch((error: unknown) =>
      reply(response, 500, `${messageOf(error)}\n`, 'text/plain'),
    );
  });
  server.requestTimeout = 10_000;
  server.maxConnections = 64;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      const reason = codeOf(error) === 'EADDRINUSE' ? 'the port is taken' : messageOf(error);
      reject(
        new TailraceError('E_TELEMETRY_LISTEN', `telemetry cannot listen on ${host}:${port}: ${reason}`, {
          fix: 'choose another address as telemetry.listen, or "none" to switch it off',
          cause: error,
        }),
      );
    });
    server.listen(port, host, resolve);
  });
  const bound = server.address();
  const boundPort = typeof bound === 'object' && bound !== null ? bound.port : port;
  return {
    address: `http://${host.includes(':') ? `[${host}]` : host}:${boundPort}`,
    close: () =>
      new Promise((resolve) => {
        clearInterval(sampling);
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function describeBlocked(sink: string, { isFull, batches, events, reason: detail, fix }: ObservedBlock): object {
  return { sink, reason: isFull ? 'dead_letters_full' : 'dead_letters_refused', batches, events, detail, fix };
}

function replyJson(response: ServerResponse, status: number, body: unknown): void {
  reply(response, status, `${JSON.stringify(body)}\n`, 'application/json');
}

function reply(response: ServerResponse, status: number, body: string, contentType: string): void {
  response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store' });
  response.end(body);
}
