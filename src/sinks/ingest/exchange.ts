/** One request and its answer over a dispatcher. Promises: one timeout from the first byte to the answer's last, a bounded answer, no redirect. */
import { MAX_ANSWER_BYTES } from './limits.ts';
import type { Answer } from './classify.ts';
import { flattenHeaders, unpack } from '../../client/answer.ts';
import { describeFailure } from '../../client/failure.ts';
import type { DispatchController, DispatchHandler, Dispatcher } from './http/dispatcher.ts';

export interface Request {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** A client certificate is configured. */
  readonly hasCert?: boolean;
}

export interface Exchanged {
  readonly answer: Answer;
  /** False when no connection took the request. */
  readonly started: boolean;
  /** No answer came, and the service may have the whole request. */
  readonly mayBeStored: boolean;
}

/** Posts the request. Rejects only when `signal` aborts; every failure is an answer of its own. */
export function exchange(
  dispatcher: Dispatcher,
  request: Request,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    let controller: DispatchController | undefined;
    let givenUp: Error | undefined;
    let status = 0;
    let headers: Record<string, string> = {};
    // Grows twofold: an answer that comes byte by byte would be as many objects.
    let body = Buffer.alloc(0);
    let length = 0;

    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    };
    const answer = (given: Answer): void => {
      end();
      const mayBeStored = given.kind === 'failure' && controller !== undefined && controller.isSent !== false;
      resolve({ answer: given, started: controller !== undefined, mayBeStored });
    };
    const answerSoFar = () => {
      const plain = unpack(body.subarray(0, length), headers['content-encoding'], MAX_ANSWER_BYTES);
      if ('bytes' in plain) answer({ kind: 'answer', status, headers, body: plain.bytes.toString('utf8') });
      else answer({ kind: 'answer', status, headers, body: plain.problem });
    };
    /** Aborts now, or as soon as a waiting request gets a connection. */
    const giveUp = (reason: Error): void => {
      givenUp = reason;
      controller?.abort(reason);
    };
    const stop = (): void => {
      end();
      const reason = signal.reason instanceof Error ? signal.reason : new Error('stopped');
      reject(reason);
      giveUp(reason);
    };
    const timer = setTimeout(() => {
      answer({ kind: 'failure', code: 'E_TIMEOUT', message: `no complete answer within ${timeoutMs} ms` });
      giveUp(new Error('timeout'));
    }, timeoutMs);
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });

    const handler: DispatchHandler = {
      onRequestStart(started) {
        if (givenUp) started.abort(givenUp);
        else controller = started;
      },
      onResponseStart(_controller, statusCode, answered) {
        if (statusCode < 200) return;
        status = statusCode;
        headers = flattenHeaders(answered);
      },
      onResponseData(_controller, chunk) {
        if (length + chunk.length > body.length)
          body = Buffer.concat([body], Math.max(2 * body.length, length + chunk.length));
        body.set(chunk, length);
        length += chunk.length;
        if (length <= MAX_ANSWER_BYTES) return;
        // The rest is not read: the connection is given up.
        answerSoFar();
        giveUp(new Error('the answer is too long'));
      },
      onResponseEnd: answerSoFar,
      onResponseError(_controller, error) {
        answer({ kind: 'failure', ...describeFailure(error, request.origin, request.hasCert) });
      },
    };
    try {
      dispatcher.dispatch({ ...request, method: 'POST' }, handler);
    } catch (error) {
      answer({ kind: 'failure', ...describeFailure(error, request.origin, request.hasCert) });
    }
  });
}
