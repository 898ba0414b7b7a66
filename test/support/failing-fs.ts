/**
 * Makes the Nth call of `node:fs` and `node:fs/promises` fail that writes, or reads whole files. For `vi.mock`:
 *
 *     vi.mock('node:fs', async (load) => failingFs(await load()));
 *     vi.mock('node:fs/promises', async (load) => failingPromises(await load()));
 */
type Fs = typeof import('node:fs');
type Promises = typeof import('node:fs/promises');

export const CODES = ['EIO', 'ENOSPC', 'EMFILE', 'EACCES', 'ESTALE'];

/** Which call fails, from 1, and how; 0 for none. */
export const fault = { nth: 0, code: '' };
/** The names of the calls so far. */
export const calls: string[] = [];

function meet(name: string): void {
  calls.push(name);
  if (calls.length === fault.nth) throw Object.assign(new Error(`${fault.code}: made to fail`), { code: fault.code });
}

function preceded<M extends object>(real: M, names: readonly (keyof M)[]): M {
  const changed = { ...real };
  for (const name of names) {
    const original = real[name] as (...given: unknown[]) => unknown;
    changed[name] = ((...given: unknown[]) => {
      meet(String(name));
      return original(...given);
    }) as M[typeof name];
  }
  return changed;
}

export function failingFs(real: Fs): Fs {
  const sync = preceded(real, [
    'mkdirSync',
    'openSync',
    'writeSync',
    'writeFileSync',
    'fsyncSync',
    'renameSync',
    'readFileSync',
  ]);
  // Short, as a disk that fills up makes them.
  const half = ([fd, parts, done]: unknown[]): unknown[] => [fd, [halfOf((parts as Uint8Array[])[0]!)], done];
  return {
    ...sync,
    ...called(real, 'open'),
    ...called(real, 'writev', half),
    ...called(real, 'fsync'),
    ...called(real, 'rename'),
  };
}

function halfOf(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, Math.ceil(bytes.length / 2));
}

/** One that tells its callback. */
function called(real: Fs, name: 'open' | 'writev' | 'fsync' | 'rename', change = (given: unknown[]) => given): object {
  const original = real[name] as (...given: unknown[]) => void;
  return {
    [name]: (...given: unknown[]) => {
      try {
        meet(name);
      } catch (error) {
        return (given.at(-1) as (error: unknown) => void)(error);
      }
      original(...change(given));
    },
  };
}

export function failingPromises(real: Promises): Promises {
  const open: Promises['open'] = async (...given) => {
    meet('open');
    const file = await real.open(...given);
    const [write, sync] = [file.write.bind(file), file.sync.bind(file)];
    // Short, as a disk that fills up makes them.
    const writeHalf = async (bytes: Uint8Array, at: number): Promise<unknown> => {
      meet('write');
      return write(bytes, at, Math.ceil((bytes.length - at) / 2));
    };
    const syncOrFail = async (): Promise<void> => {
      meet('sync');
      await sync();
    };
    return Object.assign(file, { write: writeHalf, sync: syncOrFail });
  };
  const later = (name: 'mkdir' | 'rename' | 'readFile'): object => {
    const original = real[name] as (...given: unknown[]) => Promise<unknown>;
    return {
      [name]: async (...given: unknown[]): Promise<unknown> => {
        meet(name);
        return original(...given);
      },
    };
  };
  return { ...real, ...later('mkdir'), ...later('rename'), ...later('readFile'), open };
}

/**
 * Plays `scenario` without a fault, then once for every call that it makes and every error. `about` names the fault, for
 * messages. Returns the names of the calls.
 */
export async function failEach(scenario: (about: string) => Promise<void> | void): Promise<string[]> {
  const play = async (nth: number, code: string, about: string): Promise<void> => {
    calls.length = 0;
    Object.assign(fault, { nth, code });
    try {
      await scenario(about);
    } finally {
      fault.nth = 0;
    }
  };
  await play(0, '', 'no fault');
  const names = [...calls];
  for (const [index, name] of names.entries())
    for (const code of CODES) {
      await play(index + 1, code, `${code} at ${name}, call ${index + 1} of ${names.length}`);
      if (calls[index] !== name) throw new Error(`call ${index + 1} was ${name}, and now is ${calls[index]}`);
    }
  return names;
}
