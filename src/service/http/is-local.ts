/** Whether a request comes from a program on this machine that speaks to the service itself. */
import type { IncomingMessage } from 'node:http';

const isLoopback = (address: string | undefined): boolean => address !== undefined && /^(?:::ffff:)?127\.|^::1$/.test(address);
/** By another name a page in a browser could have been made to ask. */
const LOCAL_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'];

/** False for what a proxy passes on, as far as the proxy says so. */
export function isLocal({ socket, headers }: IncomingMessage): boolean {
  return (
    isLoopback(socket.remoteAddress) &&
    isLoopback(socket.localAddress) &&
    LOCAL_HOST.test(headers.host ?? '') &&
    FORWARDED.every((name) => headers[name] === undefined)
  );
}
