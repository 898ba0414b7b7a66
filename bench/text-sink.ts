/** A sink for measurements of the lines themselves: it hands on each request's text, and answers that all of it is stored. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decode } from '../src/batcher/events.ts';
import type { Encoding } from '../src/core/sink.ts';

const encodingOf = (headers: IncomingHttpHeaders): Encoding => (headers['content-encoding'] ?? 'identity') as Encoding;

export interface TextSink {
  readonly port: number;
  stop(): Promise<void>;
}

/** `take` returns how many events the text has. */
export async function startTextSink(take: (text: string) => number): Promise<TextSink> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const ingested = take(decode(Buffer.concat(pieces), encodingOf(request.headers)).toString('latin1'));
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ ingested, failed: 0, failures: [], processedBytes: 0, blocksCreated: 1, walLength: 0 }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
