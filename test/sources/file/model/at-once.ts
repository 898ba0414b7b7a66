/**
 * The disk buffer's calls to the file system, and compressed files of zlib, done at once, and not synced: so that no call is pending when
 * an agent rests,
 * or dies, and a schedule goes the same way each time. For `vi.mock`:
 *
 *     vi.mock('node:fs', async (load) => (await import('./at-once.ts')).withCallbacks(await load()));
 *     vi.mock('node:fs/promises', async (load) => (await import('./at-once.ts')).withPromises(await load()));
 *     vi.mock('node:zlib', async (load) => (await import('./at-once.ts')).withGunzip(await load()));
 */
import { Transform } from 'node:stream';
// The real ones, whatever is mocked.
const { mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync, statSync, unlinkSync, writevSync } =
  process.getBuiltinModule('node:fs');
const { gunzipSync } = process.getBuiltinModule('node:zlib');

export function withPromises(real: object): object {
  const promises = {
    mkdir: mkdirSync,
    readdir: readdirSync,
    readFile: readFileSync,
    rename: renameSync,
    rm: rmSync,
    stat: statSync,
  };
  const later =
    (call: (...given: unknown[]) => unknown) =>
    (...given: unknown[]) =>
      Promise.resolve().then(() => call(...given));
  return { ...real, ...mapValues(promises, later) };
}

export function withCallbacks(real: object): object {
  const callbacks = {
    fsync: () => undefined,
    open: openSync,
    rename: renameSync,
    unlink: unlinkSync,
    writev: writevSync,
  };
  const calledBack =
    (call: (...given: unknown[]) => unknown) =>
    (...given: unknown[]): void => {
      const done = given.pop() as (error: unknown, result?: unknown) => void;
      let result: unknown;
      try {
        result = call(...given);
      } catch (error) {
        return done(error);
      }
      done(null, result);
    };
  return { ...real, ...mapValues(callbacks, calledBack) };
}

/** Decompresses by one call, not in the thread pool. */
export function withGunzip(real: object): object {
  const createGunzip = (): Transform => {
    const parts: Buffer[] = [];
    return new Transform({
      transform(part: Buffer, _, done) {
        parts.push(part);
        done();
      },
      flush(done) {
        done(null, gunzipSync(Buffer.concat(parts)));
      },
    });
  };
  return { ...real, createGunzip };
}

function mapValues(calls: object, change: (call: (...given: unknown[]) => unknown) => unknown): object {
  return Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, change(call as () => unknown)]));
}
