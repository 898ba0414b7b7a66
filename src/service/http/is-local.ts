/** Whether a request comes from a program on this machine, without a proxy. */
import type { IncomingMessage } from 'node:http';
import { hostOf } from '../../web/host-check.ts';

export const isLoopback = (address: string | undefined): boolean =>
  address !== undefined && /^(?:::ffff:)?127\.|^::1$/.test(address);
/** With another host name the request may come from a page that a browser was tricked into loading (DNS rebinding). */
const LOCAL_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'];

/** False for requests that a proxy forwards, if it adds the usual headers. */
export function isLocal(request: IncomingMessage): boolean {
  const { socket, headers } = request;
  return (
    isLoopback(socket.remoteAddress) &&
    isLoopback(socket.localAddress) &&
    LOCAL_HOST.test(hostOf(request) ?? '') &&
    FORWARDED.every((name) => headers[name] === undefined)
  );
}
