/** The base address of a service, as a configuration or a command line gives it. */
import type { Wrong } from '../config-error.ts';
import { trimEndOf } from '../../core/text/trim-end.ts';

const MAX_PORT = 65_535;

/** http or https, with an optional path; the value is without its trailing slashes. */
export function parseBaseUrl(value: string): { readonly value: string } | Wrong {
  const fix = 'write it as `https://host` or `http://host:port`';
  const url = /^https?:\/\/[^/]/i.test(value) && !/[\s\\]/.test(value) ? URL.parse(value) : null;
  const port = /^https?:\/\/(?:\[[^\]]*\]|[^/:]*):(\d+)(?:[/?#]|$)/i.exec(value)?.[1];
  if (Number(port) > MAX_PORT) return { message: `has the port ${port}`, fix: `a port is at most ${MAX_PORT}` };
  if (url === null) return { message: 'is not an http or https address', fix };
  if (url.username !== '' || url.password !== '')
    return { message: 'holds a user or password', fix: 'remove it and use `token`' };
  if (/[?#]/.test(value)) return { message: 'holds a query or fragment', fix: 'end it before the `?` or `#`' };
  return { value: trimEndOf(`${url.origin}${url.pathname}`, '/') };
}
