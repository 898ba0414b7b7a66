/** The last guard of a terminal: JSON and events that are printed as they are hold characters that a terminal obeys. Pipes get every byte. */
import type { WriteStream } from 'node:tty';
import { printableJson } from '../../config/quote.ts';

/** From now on the stream is written through `printableJson`. Each write must hold whole characters. */
export function guardTerminal(stream: WriteStream): void {
  const write = stream.write.bind(stream) as (text: string, ...rest: unknown[]) => boolean;
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean =>
    write(printableJson(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()), ...rest);
}
