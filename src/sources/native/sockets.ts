/** Datagram sockets as descriptors: made, bound, asked; and addresses between text and the system's form. */
import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import type { NativeLibrary } from './library.ts';

/** Constants of Linux, the same on x64 and arm64. */
const [AF_UNIX, AF_INET, AF_INET6] = [1, 2, 10];
const SOCK_DGRAM = 2;
const MSG_NOSIGNAL = 0x4000;
const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2000000;
const SOL_SOCKET = 1;
const SO_ACCEPTCONN = 30;
const SO_TYPE = 3;
const SO_RCVBUF = 8;
const SO_RCVBUFFORCE = 33;
const SO_DOMAIN = 39;
const IPPROTO_IPV6 = 41;
const IPV6_V6ONLY = 26;
const [F_SETFD, F_SETFL, FD_CLOEXEC] = [2, 4, 1];
const TEXT_BYTES = 64;
/** Bytes of a `sockaddr_un`, the largest of the three. */
const ADDRESS_BYTES = 110;
const PATH_BYTES = 107;

export interface BoundSocket {
  readonly fd: number;
  /** The port that the system chose, when 0 was asked for. */
  readonly port: number;
  /** Granted by the system, which reserves twice as much. */
  readonly receiveBufferBytes: number;
}

/** A UDP socket; throws the system's error. A name is resolved. */
export async function bindUdp(
  library: NativeLibrary,
  host: string,
  port: number,
  receiveBufferBytes: number,
): Promise<BoundSocket> {
  const { address, family } = await lookup(host);
  const domain = family === 6 ? AF_INET6 : AF_INET;
  const name = Buffer.alloc(family === 6 ? 28 : 16);
  name.writeUInt16LE(domain, 0);
  name.writeUInt16BE(port, 2);
  const [text = '', scope] = address.split('%');
  if (library.functions.inet_pton(domain, text, name.subarray(family === 6 ? 8 : 4)) !== 1)
    throw Object.assign(new Error(`"${address}" is no address`), { code: 'EINVAL' });
  if (scope !== undefined) name.writeUInt32LE(scopeId(scope), 24);
  return bindSocket(library, domain, name, receiveBufferBytes);
}

/** A unix datagram socket at a path that is free. */
export function bindUnix(library: NativeLibrary, path: string, receiveBufferBytes: number): BoundSocket {
  return bindSocket(library, AF_UNIX, unixName(path), receiveBufferBytes);
}

/** Whether someone receives datagrams at the path. */
export function isUnixTaken(library: NativeLibrary, path: string): boolean {
  const { functions } = library;
  const fd = functions.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) throw library.lastError('socket');
  const name = unixName(path);
  const isConnected = functions.connect(fd, name, name.length) === 0;
  functions.close(fd);
  return isConnected;
}

/** Sends one datagram to a unix socket, never waiting; throws the system's error. A path that begins with `@` is in the abstract namespace. */
export function sendUnix(library: NativeLibrary, path: string, text: string): void {
  const { functions } = library;
  const fd = functions.socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) throw library.lastError('socket');
  try {
    // A name in the abstract namespace begins with a NUL and ends with its last byte.
    const name = path.startsWith('@') ? unixName(`\0${path.slice(1)}`).subarray(0, -1) : unixName(path);
    const bytes = Buffer.from(text);
    if (functions.sendto(fd, bytes, BigInt(bytes.length), MSG_NOSIGNAL, name, name.length) < 0)
      throw library.lastError('sendto');
  } finally {
    functions.close(fd);
  }
}

/** The kind of a socket that another program opened; undefined when it cannot be listened on. */
export function kindOf(library: NativeLibrary, fd: number): 'tcp' | 'unix' | 'udp' | 'unixgram' | undefined {
  try {
    const isUnix = readOption(library, fd, SO_DOMAIN) === AF_UNIX;
    if (readOption(library, fd, SO_ACCEPTCONN) === 1) return isUnix ? 'unix' : 'tcp';
    if (readOption(library, fd, SO_TYPE) !== SOCK_DGRAM) return undefined;
    return isUnix ? 'unixgram' : 'udp';
  } catch {
    return undefined;
  }
}

/** A datagram socket that someone else has bound. */
export function adoptSocket(library: NativeLibrary, fd: number, receiveBufferBytes: number): BoundSocket {
  library.functions.fcntl(fd, F_SETFD, FD_CLOEXEC);
  library.functions.fcntl(fd, F_SETFL, SOCK_NONBLOCK);
  enlarge(library, fd, receiveBufferBytes);
  return described(library, fd);
}

export function closeSocket(library: NativeLibrary, fd: number): void {
  library.functions.close(fd);
}

/** The sender's `address:port` of a `sockaddr` as the system wrote it; undefined when it names none. */
export function peerOfName(
  library: NativeLibrary,
  name: Buffer,
): { readonly address: string; readonly port: number } | undefined {
  const family = name.readUInt16LE(0);
  if (family !== AF_INET && family !== AF_INET6) return undefined;
  const text = Buffer.alloc(TEXT_BYTES);
  library.functions.inet_ntop(family, name.subarray(family === AF_INET ? 4 : 8), text, TEXT_BYTES);
  return { address: text.toString('latin1', 0, text.indexOf(0)), port: name.readUInt16BE(2) };
}

function bindSocket(library: NativeLibrary, domain: number, name: Buffer, receiveBufferBytes: number): BoundSocket {
  const { functions } = library;
  const fd = functions.socket(domain, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) throw library.lastError('socket');
  try {
    enlarge(library, fd, receiveBufferBytes);
    // As Node does it: `[::]` takes both kinds.
    if (domain === AF_INET6) setOption(library, fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    if (functions.bind(fd, name, name.length) !== 0) throw library.lastError('bind');
    return described(library, fd);
  } catch (error) {
    functions.close(fd);
    throw error;
  }
}

/** The system caps the buffer at net.core.rmem_max, but not for who administers the network. */
function enlarge(library: NativeLibrary, fd: number, bytes: number): void {
  setOption(library, fd, SOL_SOCKET, SO_RCVBUF, bytes);
  if (readOption(library, fd, SO_RCVBUF) / 2 >= bytes) return;
  const value = Buffer.alloc(4);
  value.writeInt32LE(bytes);
  library.functions.setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, value, 4);
}

function unixName(path: string): Buffer {
  const bytes = Buffer.from(path);
  if (bytes.length > PATH_BYTES)
    throw Object.assign(new Error(`the path has ${bytes.length} bytes, ${PATH_BYTES} are possible`), {
      code: 'ENAMETOOLONG',
    });
  const name = Buffer.alloc(2 + bytes.length + 1);
  name.writeUInt16LE(AF_UNIX, 0);
  bytes.copy(name, 2);
  return name;
}

function described(library: NativeLibrary, fd: number): BoundSocket {
  const name = Buffer.alloc(ADDRESS_BYTES);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(ADDRESS_BYTES);
  if (library.functions.getsockname(fd, name, length) !== 0) throw library.lastError('getsockname');
  const port = name.readUInt16LE(0) === AF_UNIX ? 0 : name.readUInt16BE(2);
  return { fd, port, receiveBufferBytes: readOption(library, fd, SO_RCVBUF) / 2 };
}

function setOption(library: NativeLibrary, fd: number, level: number, option: number, value: number): void {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  if (library.functions.setsockopt(fd, level, option, bytes, 4) !== 0) throw library.lastError('setsockopt');
}

function readOption(library: NativeLibrary, fd: number, option: number): number {
  const bytes = Buffer.alloc(4);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(4);
  if (library.functions.getsockopt(fd, SOL_SOCKET, option, bytes, length) !== 0) throw library.lastError('getsockopt');
  return bytes.readInt32LE();
}

/** `getaddrinfo` writes an interface's name or number after a link-local address. */
function scopeId(scope: string): number {
  if (/^\d+$/.test(scope)) return Number(scope);
  return Object.values(networkInterfaces()[scope] ?? []).find((each) => each.family === 'IPv6')?.scopeid ?? 0;
}
