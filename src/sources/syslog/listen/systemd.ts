/** Descriptors that systemd has opened for this process (sd_listen_fds): their numbers and names. */

const FIRST = 3;

export interface Descriptor {
  readonly fd: number;
  /** `FileDescriptorName=` of the socket unit, else the unit's own. */
  readonly name: string;
}

/** Those of a name, all where it is empty; none when they are not for this process. */
export function systemdDescriptors(
  name: string,
  env: NodeJS.ProcessEnv = process.env,
  pid = process.pid,
): Descriptor[] {
  if (env['LISTEN_PID'] !== String(pid)) return [];
  const count = /^\d{1,4}$/.test(env['LISTEN_FDS'] ?? '') ? Number(env['LISTEN_FDS']) : 0;
  const names = (env['LISTEN_FDNAMES'] ?? '').split(':');
  const all = Array.from({ length: count }, (_, n) => ({ fd: FIRST + n, name: names[n] ?? '' }));
  return name === '' ? all : all.filter((each) => each.name === name);
}
