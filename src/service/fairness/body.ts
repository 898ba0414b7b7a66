/**
 * Bodies of requests: read to their end within bounds of size, memory and time. A refusal is an answer with a sentence; the rest of the
 * body is then read and dropped, as a client that is sending would see a reset connection in place of the answer.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type LeastRate, watch } from './least-rate.ts';
import { ApiError } from '../http/api-error.ts';

export interface BodyBounds {
  /** Bytes. */
  readonly most: number;
  readonly tooLarge: () => ApiError;
  readonly least: LeastRate;
  /** Called with the bytes that there are so far; may throw an `ApiError`. */
  readonly grow?: (bytes: number) => void;
}

/** Throws an `ApiError`: 413, 408, or what `grow` throws. */
export function readBytes(request: IncomingMessage, { most, tooLarge, least, grow }: BodyBounds): Promise<Buffer> {
  if (Number(request.headers['content-length']) > most) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const stop = watch(
      () => request.socket.bytesRead,
      least,
      () =>
        fail(
          new ApiError(
            408,
            `the body came too slowly: send at least ${(least.rate * least.afterMs) / 1024 / 1000} KiB in each ${least.afterMs / 1000} s`,
          ),
        ),
    );
    const take = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > most) return fail(tooLarge());
      chunks.push(chunk);
      try {
        grow?.(length);
      } catch (error) {
        fail(error as Error);
      }
    };
    const end = (): void => {
      leave();
      resolve(Buffer.concat(chunks, length));
    };
    const fail = (error: Error): void => {
      leave();
      request.on('error', () => undefined).resume();
      reject(error);
    };
    const cut = (): void => fail(new ApiError(400, 'the connection ended before the body did'));
    const leave = (): void => {
      stop();
      request.off('data', take).off('end', end).off('error', cut).off('close', cut);
    };
    request.on('data', take).once('end', end).once('error', cut).once('close', cut);
  });
}

/** Connections whose request was answered before its body had come. */
const draining = new WeakSet<Socket>();

/** Whether the answer has been given: another must not follow. */
export const isAnswered = (socket: Socket): boolean => socket.writableEnded || draining.has(socket);

/** Call it before a reply. Drops the rest of the body while it comes at the least rate; then the connection is closed or used again. */
export function drainAfter(request: IncomingMessage, response: ServerResponse, least: LeastRate): void {
  if (request.complete) return;
  const { socket } = request;
  const close = socket.destroySoon.bind(socket);
  // Node closes both directions behind the last reply.
  socket.destroySoon = () => void socket.end();
  response.once('finish', () => {
    draining.add(socket);
    const stop = watch(
      () => socket.bytesRead,
      least,
      () => socket.destroy(),
    );
    const end = (): void => {
      stop();
      socket.off('close', stop);
      draining.delete(socket);
      socket.destroySoon = close;
      if (socket.writableEnded) close();
    };
    socket.once('close', stop);
    if (request.readableEnded) end();
    else request.once('end', end);
  });
}
