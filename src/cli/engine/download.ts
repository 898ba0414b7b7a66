/** Downloads one file and holds it against its checksum. Promises: a rejection leaves the file to the caller to remove; nothing waits for ever. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { EnvHttpProxyAgent, fetch } from 'undici';
import { systemAuthorities } from '../../config/connect/tls-files.ts';
import { messageOf, TailraceError } from '../../core/errors.ts';
import { MAX_CONNECT_MS } from '../../core/limits.ts';

/** A server that sends nothing for this long is given up. */
const SILENCE_MS = 60_000;
const MAX_BYTES = 2 * 1024 ** 3;

export interface Download {
  readonly url: string;
  /** `sha512-` and base64, as in package-lock.json. */
  readonly integrity: string;
  /** The file to write. */
  readonly to: string;
  readonly signal: AbortSignal;
  /** Bytes so far, and of the whole where the server says. */
  readonly progress: (bytes: number, total: number | undefined) => void;
}

/** Throws `TailraceError`: `E_ENGINE_FETCH` for the way there, `E_ENGINE_CHECKSUM` for other bytes than were promised. */
export async function download({ url, integrity, to, signal, progress }: Download): Promise<void> {
  const connect = { timeout: MAX_CONNECT_MS, ...(url.startsWith('https:') && { ca: systemAuthorities() }) };
  const options = { connect, requestTls: connect, headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS };
  const dispatcher = new EnvHttpProxyAgent(options);
  const hash = createHash('sha512');
  try {
    const answer = await fetch(url, { dispatcher, signal });
    if (!answer.ok || !answer.body) throw new Error(`the registry answered ${answer.status}`);
    const total = Number(answer.headers.get('content-length')) || undefined;
    let bytes = 0;
    const count = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        hash.update(chunk);
        bytes += chunk.length;
        if (bytes > MAX_BYTES) throw new Error(`it is longer than ${MAX_BYTES} bytes`);
        progress(bytes, total);
        yield chunk;
      }
    };
    await pipeline(Readable.fromWeb(answer.body as never), count, createWriteStream(to, { flags: 'wx', flush: true }));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const { cause } = error as Error;
    throw new TailraceError('E_ENGINE_FETCH', `cannot fetch ${url}: ${messageOf(cause ?? error)}`, {
      fix: 'check the network, HTTPS_PROXY and --registry, then run it again',
      cause: error,
    });
  } finally {
    await dispatcher.destroy();
  }
  const found = `sha512-${hash.digest('base64')}`;
  if (found !== integrity)
    throw new TailraceError(
      'E_ENGINE_CHECKSUM',
      `${url} is not what this program was built with: it is ${found}, wanted ${integrity}`,
      {
        fix: 'run it again; if it stays so, the registry serves another file: name another one with --registry',
      },
    );
}
