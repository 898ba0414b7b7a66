/**
 * The door to what Node has no function for: datagram sockets of which many messages are read in one call, into memory that
 * was reserved before, unix datagram sockets at all, and folder watches that choose their events. Owns the declarations of the
 * few functions of libc and libuv that are called through `node:ffi` (docs/adr/0006-datagrams.md). Promises: undefined where
 * they cannot be had, never a guess.
 */
import { endianness } from 'node:os';
import { getSystemErrorMap } from 'node:util';

type Ffi = typeof import('node:ffi');

const DEFINITIONS = {
  socket: { arguments: ['i32', 'i32', 'i32'], return: 'i32' },
  connect: { arguments: ['i32', 'buffer', 'u32'], return: 'i32' },
  bind: { arguments: ['i32', 'buffer', 'u32'], return: 'i32' },
  close: { arguments: ['i32'], return: 'i32' },
  setsockopt: { arguments: ['i32', 'i32', 'i32', 'buffer', 'u32'], return: 'i32' },
  getsockopt: { arguments: ['i32', 'i32', 'i32', 'buffer', 'buffer'], return: 'i32' },
  getsockname: { arguments: ['i32', 'buffer', 'buffer'], return: 'i32' },
  fcntl: { arguments: ['i32', 'i32', 'i32'], return: 'i32' },
  sendto: { arguments: ['i32', 'buffer', 'u64', 'i32', 'buffer', 'u32'], return: 'i64' },
  recvmmsg: { arguments: ['i32', 'pointer', 'u32', 'i32', 'pointer'], return: 'i32' },
  inet_pton: { arguments: ['i32', 'string', 'buffer'], return: 'i32' },
  inet_ntop: { arguments: ['i32', 'buffer', 'buffer', 'u32'], return: 'pointer' },
  inotify_init1: { arguments: ['i32'], return: 'i32' },
  inotify_add_watch: { arguments: ['i32', 'string', 'u32'], return: 'i32' },
  inotify_rm_watch: { arguments: ['i32', 'i32'], return: 'i32' },
  readlinkat: { arguments: ['i32', 'string', 'buffer', 'u64'], return: 'i64' },
  __errno_location: { arguments: [], return: 'pointer' },
  uv_handle_size: { arguments: ['i32'], return: 'u64' },
  uv_poll_init: { arguments: ['pointer', 'buffer', 'i32'], return: 'i32' },
  uv_poll_start: { arguments: ['buffer', 'i32', 'pointer'], return: 'i32' },
  uv_poll_stop: { arguments: ['buffer'], return: 'i32' },
  uv_close: { arguments: ['buffer', 'pointer'], return: 'void' },
} as const;

export interface NativeLibrary {
  readonly ffi: Ffi;
  readonly lib: InstanceType<Ffi['DynamicLibrary']>;
  readonly functions: ReturnType<typeof open>['functions'];
  /** The error that the last call left, as Node writes it: `code` and `syscall`. */
  lastError(syscall: string): Error;
  /** That of a libuv function that returned it. */
  errorOf(code: number, syscall: string): Error;
}

function open(ffi: Ffi) {
  return ffi.dlopen(null, DEFINITIONS);
}

let loaded: { readonly library: NativeLibrary | undefined } | undefined;

/** The library, loaded once; undefined on other systems than 64-bit Linux, and in a Node without `node:ffi`. */
export function nativeLibrary(): NativeLibrary | undefined {
  loaded ??= { library: load() };
  return loaded.library;
}

function load(): NativeLibrary | undefined {
  // Structures are laid out by hand, for these.
  if (process.platform !== 'linux' || endianness() !== 'LE' || !['x64', 'arm64'].includes(process.arch))
    return undefined;
  const ffi = process.getBuiltinModule('node:ffi') as Ffi | undefined;
  // Since 26.6.
  if (typeof ffi?.getCurrentEventLoop !== 'function') return undefined;
  try {
    const { lib, functions } = open(ffi);
    const errorOf = (code: number, syscall: string): Error => {
      const [name, text] = getSystemErrorMap().get(code) ?? [`E${-code}`, 'unknown error'];
      return Object.assign(new Error(`${syscall} ${name}: ${text}`), { code: name, errno: code, syscall });
    };
    return {
      ffi,
      lib,
      functions,
      errorOf,
      lastError: (syscall) => errorOf(-ffi.getInt32(functions.__errno_location()), syscall),
    };
  } catch {
    // A libc without one of them, or a Node that declares them in another way.
    return undefined;
  }
}
