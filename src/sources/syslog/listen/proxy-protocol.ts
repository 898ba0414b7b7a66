/**
 * The PROXY protocol's header, versions 1 and 2, as a load balancer writes it before a connection's own bytes: who the sender is.
 * Pure: parses a connection's first bytes. https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt
 */
import { isIP } from 'node:net';
import { formatPeer } from './addresses.ts';

/** `more`: needs more bytes. `invalid`: not a header. */
export type ProxyHeader =
  | 'more'
  | 'invalid'
  | {
      /** Bytes of the header. */
      readonly length: number;
      /** `address:port` of the sender; undefined where the proxy speaks for itself or does not know. */
      readonly peer: string | undefined;
    };

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const TEXT = Buffer.from('PROXY ');
/** What version 1 allows at most, its CR LF included. */
const MAX_TEXT_BYTES = 107;
const HEAD_BYTES = 16;
/** Addresses, and what proxies add to them. */
const MAX_BINARY_BYTES = 4096;

export function readProxyHeader(bytes: Buffer): ProxyHeader {
  if (startsLike(bytes, TEXT)) return bytes.length < TEXT.length ? 'more' : readText(bytes);
  if (startsLike(bytes, SIGNATURE)) return bytes.length < HEAD_BYTES ? 'more' : readBinary(bytes);
  return 'invalid';
}

/** As far as there are bytes. */
function startsLike(bytes: Buffer, beginning: Buffer): boolean {
  const length = Math.min(bytes.length, beginning.length);
  return bytes.subarray(0, length).equals(beginning.subarray(0, length));
}

function readText(bytes: Buffer): ProxyHeader {
  const end = bytes.indexOf('\r\n');
  if (end < 0) return bytes.length < MAX_TEXT_BYTES ? 'more' : 'invalid';
  if (end + 2 > MAX_TEXT_BYTES) return 'invalid';
  const [, protocol, source = '', destination = '', port = '', ...rest] = bytes.toString('latin1', 0, end).split(' ');
  if (protocol === 'UNKNOWN') return { length: end + 2, peer: undefined };
  const family = protocol === 'TCP4' ? 4 : protocol === 'TCP6' ? 6 : 0;
  const isValid =
    isIP(source) === family && isIP(destination) === family && isPort(port) && rest.length === 1 && isPort(rest[0]!);
  return family !== 0 && isValid ? { length: end + 2, peer: formatPeer(source, Number(port)) } : 'invalid';
}

function isPort(text: string): boolean {
  return /^(?:0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535;
}

function readBinary(bytes: Buffer): ProxyHeader {
  const version = bytes[12]! >> 4;
  const command = bytes[12]! & 15;
  const family = bytes[13]! >> 4;
  const length = HEAD_BYTES + bytes.readUInt16BE(14);
  if (version !== 2 || command > 1 || length > MAX_BINARY_BYTES) return 'invalid';
  if (bytes.length < length) return 'more';
  if (command === 0) return { length, peer: undefined };
  if (family === 1 && length >= HEAD_BYTES + 12)
    return { length, peer: formatPeer(bytes.subarray(16, 20).join('.'), bytes.readUInt16BE(24)) };
  if (family === 2 && length >= HEAD_BYTES + 36)
    return { length, peer: formatPeer(ipv6(bytes.subarray(16, 32)), bytes.readUInt16BE(48)) };
  // Unix addresses and unknown families name no one; too short for its family is no header.
  return family === 1 || family === 2 ? 'invalid' : { length, peer: undefined };
}

/** As text, its longest run of zeros shortened. */
function ipv6(bytes: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, n) => bytes.readUInt16BE(2 * n).toString(16));
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
