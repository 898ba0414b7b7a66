/**
 * Folder watches that can leave out appends: 20,000 writes a second make as many events, and Node's own watches have no filter.
 * Owns the one inotify descriptor of the process, open while a folder is watched. Promises: no call after `close`; lost
 * events and a removed folder are reported as an event without a name.
 */
import { closeSync, readSync } from 'node:fs';
import type { NativeLibrary } from './library.ts';
import { createPoll, type Poll } from './poll.ts';

/** `isEntry`: the name came, went or was renamed; else its file changed. */
export type Changed = (name: string | undefined, isEntry: boolean) => void;

export interface InotifyWatch {
  /** True: reports appends too (the initial state); false: names only. */
  setAppends(isTold: boolean): void;
  close(): void;
}

interface Watcher {
  readonly changed: Changed;
  hearsAppends: boolean;
}

/** A folder, which may be watched under several paths, by several sources. */
interface InotifyFolder {
  readonly watchers: Set<Watcher>;
  mask: number;
}

/** Constants of Linux, the same on x64 and arm64. */
const [IN_NONBLOCK, IN_CLOEXEC] = [0o4000, 0o2000000];
const [IN_MODIFY, IN_ATTRIB, IN_MOVED_FROM, IN_MOVED_TO, IN_CREATE, IN_DELETE, IN_DELETE_SELF, IN_MOVE_SELF] = [
  0x2, 0x4, 0x40, 0x80, 0x100, 0x200, 0x400, 0x800,
];
const [IN_UNMOUNT, IN_Q_OVERFLOW, IN_IGNORED] = [0x2000, 0x4000, 0x8000];
const APPENDS = IN_MODIFY | IN_ATTRIB;
const NAMES = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF;
/** The folder itself went, or is another one now. */
const SELF = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED;
/** Of an `inotify_event`, before the name. */
const HEADER_BYTES = 16;
const BUFFER_BYTES = 64 * 1024;
/** Events that come in a row are read together, at most this often: waking costs more than reading. */
const READ_PAUSE_MS = 5;

let current: Inotify | undefined;

/** Throws the system's error. */
export function watchInotify(library: NativeLibrary, path: string, changed: Changed): InotifyWatch {
  current ??= new Inotify(library);
  return current.watch(path, changed);
}

class Inotify {
  readonly #library: NativeLibrary;
  readonly #fd: number;
  readonly #poll: Poll;
  /** By watch descriptor. */
  readonly #folders = new Map<number, InotifyFolder>();
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #readAtMs = -Infinity;
  #pause: NodeJS.Timeout | undefined;

  constructor(library: NativeLibrary) {
    this.#library = library;
    this.#fd = library.functions.inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (this.#fd < 0) throw library.lastError('inotify_init1');
    try {
      this.#poll = createPoll(library, this.#fd, () => this.#onReadable());
    } catch (error) {
      closeSync(this.#fd);
      throw error;
    }
    this.#poll.start();
  }

  watch(path: string, changed: Changed): InotifyWatch {
    const watcher: Watcher = { changed, hearsAppends: true };
    let id: number;
    try {
      id = this.#add(path, APPENDS | NAMES);
    } catch (error) {
      this.#closeIfUnused();
      throw error;
    }
    const folder = this.#folders.get(id) ?? { watchers: new Set(), mask: 0 };
    folder.mask = APPENDS | NAMES;
    folder.watchers.add(watcher);
    this.#folders.set(id, folder);
    return {
      setAppends: (isTold) => {
        watcher.hearsAppends = isTold;
        if (folder.watchers.has(watcher) && this.#folders.get(id) === folder) this.#setMask(path, id, folder);
      },
      close: () => {
        if (!folder.watchers.delete(watcher) || folder.watchers.size > 0) return;
        if (this.#folders.get(id) === folder) this.#remove(id);
        this.#closeIfUnused();
      },
    };
  }

  #add(path: string, mask: number): number {
    const id = this.#library.functions.inotify_add_watch(this.#fd, path, mask);
    if (id < 0) throw this.#library.lastError('inotify_add_watch');
    return id;
  }

  #remove(id: number): void {
    this.#folders.delete(id);
    this.#library.functions.inotify_rm_watch(this.#fd, id);
  }

  /** A second watch of the same folder replaces the mask of the first. */
  #setMask(path: string, id: number, folder: InotifyFolder): void {
    const mask = [...folder.watchers].some(({ hearsAppends }) => hearsAppends) ? APPENDS | NAMES : NAMES;
    if (folder.mask === mask) return;
    const found = this.#library.functions.inotify_add_watch(this.#fd, path, mask);
    if (found === id) {
      folder.mask = mask;
      return;
    }
    // Another folder has the path now, or none.
    const other = this.#folders.get(found);
    if (other) this.#library.functions.inotify_add_watch(this.#fd, path, other.mask);
    else if (found >= 0) this.#library.functions.inotify_rm_watch(this.#fd, found);
    setImmediate(() => tell(folder, undefined, true));
  }

  #onReadable(): void {
    const nowMs = performance.now();
    if (nowMs - this.#readAtMs < READ_PAUSE_MS) {
      this.#poll.stop();
      this.#pause = setTimeout(() => {
        this.#poll.start();
        this.#read();
      }, READ_PAUSE_MS);
      return;
    }
    this.#read();
    // Node runs promise callbacks after its own callbacks alone, so let one follow.
    setImmediate(() => {});
  }

  #read(): void {
    this.#readAtMs = performance.now();
    let count = 0;
    try {
      count = readSync(this.#fd, this.#buffer);
    } catch {
      // There is nothing to read after all.
    }
    for (let at = 0; at < count;) {
      const id = this.#buffer.readInt32LE(at);
      const mask = this.#buffer.readUInt32LE(at + 4);
      const nameAt = at + HEADER_BYTES;
      at = nameAt + this.#buffer.readUInt32LE(at + 12);
      this.#dispatch(
        id,
        mask,
        nameAt === at ? undefined : this.#buffer.toString('utf8', nameAt, this.#buffer.indexOf(0, nameAt)),
      );
    }
  }

  #dispatch(id: number, mask: number, name: string | undefined): void {
    if ((mask & IN_Q_OVERFLOW) !== 0) {
      for (const folder of this.#folders.values()) tell(folder, undefined, true);
      return;
    }
    const folder = this.#folders.get(id);
    if (!folder) return;
    if ((mask & IN_IGNORED) !== 0) this.#folders.delete(id);
    if ((mask & SELF) !== 0) tell(folder, undefined, true);
    else tell(folder, name, (mask & APPENDS) === 0);
  }

  #closeIfUnused(): void {
    if (this.#folders.size > 0 || current !== this) return;
    current = undefined;
    clearTimeout(this.#pause);
    void this.#poll.close().then(() => closeSync(this.#fd));
  }
}

function tell({ watchers }: InotifyFolder, name: string | undefined, isEntry: boolean): void {
  for (const watcher of [...watchers])
    if ((isEntry || watcher.hearsAppends) && watchers.has(watcher)) watcher.changed(name, isEntry);
}
