/** The Debian package on a real systemd, from the first installation to the purge. The tests are the steps of one story, in order. */
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { API_TOKEN } from '../support/local-service.ts';
import { sharedPackages } from '../support/packages.ts';
import { bootMachine, canBoot, type Machine, neededToBoot } from '../support/systemd-machine.ts';
import { until } from '../support/until.ts';
import { SERVICE, storedEvents } from './stored.ts';

const root = join(import.meta.dirname, '..', '..');
const tailrace = join(root, 'bin', 'tailrace');
/** Only a machine that hangs reaches it: packing alone takes minutes beside busy programs. */
const DEADLINE_MS = 600_000;
const PATIENCE = { withinMs: DEADLINE_MS, everyMs: 250 };

describe.skipIf(!canBoot)(`the Debian package on systemd${neededToBoot}`, { timeout: 2 * DEADLINE_MS }, () => {
  let folder: string;
  let deb: string;
  let machine: Machine;
  let service: ChildProcess;

  const state = (): string => machine.run('systemctl is-active tailrace').out.trim();
  const mainPid = (): number => Number(machine.must('systemctl show -p MainPID --value tailrace'));
  const statusText = (): string => machine.must('systemctl show -p StatusText --value tailrace').trim();
  /** How many events the service has whose message contains the text. */
  const stored = (text: string): number => storedEvents(machine, `message contains '${text}'`);
  const arrives = (text: string): Promise<void> => until(`"${text}" in the service`, () => stored(text) > 0, PATIENCE);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tailrace-install-'));
    ({ deb } = await sharedPackages());
    machine = await bootMachine();
    // A machine whose daemons may start, with logs of its own only.
    machine.must(
      `rm -f /usr/sbin/policy-rc.d; mkdir -p /srv/deb; find /var/log -type f -delete; echo 'status installed base' >/var/log/dpkg.log`,
    );
    machine.must('chgrp adm /var/log/dpkg.log; chmod 640 /var/log/dpkg.log');
    service = machine.startBeside(
      tailrace,
      ['serve', '--listen', SERVICE, '--data', join(folder, 'service'), '--json'],
      { TAILRACE_API_TOKEN: API_TOKEN },
    );
    await new Promise((resolve) => service.stdout!.once('data', resolve));
  }, DEADLINE_MS);

  afterAll(async () => {
    if (service) await new Promise((resolve) => service.once('exit', resolve).kill('SIGTERM'));
    await machine?.stop();
    rmSync(folder, { recursive: true, force: true });
  }, DEADLINE_MS);

  beforeEach(({ onTestFailed }) => {
    onTestFailed(() => console.error(machine.run('journalctl -u tailrace -n 60 -o short-monotonic').out));
  });

  test('installs, starts, ships nothing without a token, and says so', async () => {
    machine.copyIn(deb, '/srv/tailrace.deb');
    machine.must('dpkg -i /srv/tailrace.deb');
    await until('the unit runs', () => state() === 'active', { withinMs: DEADLINE_MS, everyMs: 100 });
    expect(statusText()).toMatch(/store ships nothing: the token .* is empty/);
    expect(machine.must('id -nG tailrace').trim()).toBe('tailrace');
    expect(machine.must('systemctl is-enabled tailrace').trim()).toBe('enabled');
    expect(machine.must('ps -o user= -p $(systemctl show -p MainPID --value tailrace)').trim()).toBe('tailrace');
  });

  test('ships the machine’s own logs once a token is there', async () => {
    machine.must(
      `install -m 600 /dev/null /etc/tailrace/token; echo ${API_TOKEN} >/etc/tailrace/token; systemctl restart tailrace`,
    );
    await arrives('status installed base');
    await until('the status line', () => statusText().includes('store delivers'), PATIENCE);
  });

  test('a reload keeps the process and takes the changed file into force', async () => {
    const before = mainPid();
    machine.must(
      `sed -i 's#/var/log/apache2/\\*.log#/var/log/added/*.txt#' /etc/tailrace/tailrace.yaml; mkdir -p /var/log/added`,
    );
    machine.must(`echo 'line of an added file' >/var/log/added/a.txt; systemctl reload tailrace`);
    await arrives('line of an added file');
    expect(mainPid()).toBe(before);
  });

  test('a file in conf.d is taken into force by a reload', async () => {
    const source = 'sources: {more: {type: file, include: ["/var/log/added/*.more"]}}';
    machine.must(
      `echo '${source}' >/etc/tailrace/conf.d/more.yaml; echo 'line of conf.d' >/var/log/added/a.more; systemctl reload tailrace`,
    );
    await arrives('line of conf.d');
    machine.must('rm /etc/tailrace/conf.d/more.yaml; systemctl reload tailrace');
  });

  test('a reload with a mistake changes nothing', async () => {
    machine.must(
      `cp /etc/tailrace/tailrace.yaml /srv/good.yaml; echo 'sauces: {}' >>/etc/tailrace/tailrace.yaml; ! systemctl reload tailrace`,
    );
    machine.must(`echo 'line after a bad reload' >>/var/log/added/a.txt`);
    await arrives('line after a bad reload');
    expect(machine.must('journalctl -u tailrace -o cat')).toMatch(/sauces/);
    machine.must('cp /srv/good.yaml /etc/tailrace/tailrace.yaml');
  });

  test('kill -9 is followed by a restart, and nothing is missing', async () => {
    const before = mainPid();
    machine.must(`kill -9 ${before}; echo 'line after a kill' >>/var/log/added/a.txt`);
    await arrives('line after a kill');
    expect(mainPid()).not.toBe(before);
    expect(stored('line of an added file')).toBe(1);
  });

  test('a transform script runs in the unit, and one that takes all memory is ended without the agent', async () => {
    const before = mainPid();
    machine.must(
      `cat >/etc/tailrace/shape.ts <<'END'
export default (event: Record<string, unknown>) => {
  const hoard: object[] = [];
  if (event['message'] === 'hoard') for (;;) hoard.push({});
  return { ...event, message: event['message'] + ' shaped in the unit' };
};
END
chmod 644 /etc/tailrace/shape.ts; printf 'transform: {script: /etc/tailrace/shape.ts}\\n' >>/etc/tailrace/tailrace.yaml; systemctl reload tailrace`,
    );
    machine.must(`echo 'line of a script' >>/var/log/added/a.txt`);
    await arrives('line of a script shaped in the unit');
    machine.must(`printf 'hoard\\nline after it\\n' >>/var/log/added/a.txt`);
    await arrives('line after it shaped in the unit');
    expect(mainPid()).toBe(before);
    machine.must('cp /srv/good.yaml /etc/tailrace/tailrace.yaml; rm /etc/tailrace/shape.ts; systemctl reload tailrace');
  });

  test('a hung process is ended by the watchdog and started again', async () => {
    machine.must(
      'mkdir -p /etc/systemd/system/tailrace.service.d; printf "[Service]\\nWatchdogSec=10s\\nTimeoutAbortSec=1s\\n" >/etc/systemd/system/tailrace.service.d/test.conf',
    );
    machine.must('systemctl daemon-reload; systemctl restart tailrace');
    const before = mainPid();
    machine.must(`kill -STOP ${before}; echo 'line after a hang' >>/var/log/added/a.txt`);
    await arrives('line after a hang');
    expect(mainPid()).not.toBe(before);
    expect(machine.must('journalctl -u tailrace -o cat')).toMatch(/[Ww]atchdog timeout/);
  });

  test('a service that is away does not trip the watchdog', async () => {
    const before = mainPid();
    machine.must(
      `sed -i 's#127.0.0.1:4100#127.0.0.1:4199#' /etc/tailrace/tailrace.yaml; systemctl reload tailrace; echo 'line while away' >>/var/log/added/a.txt`,
    );
    await until('the status names the failure', () => /store retries/.test(statusText()), PATIENCE);
    const beats = (): number => Number(machine.must('systemctl show -p WatchdogTimestampMonotonic --value tailrace'));
    const first = beats();
    await until('more than a watchdog period went by', () => beats() > first + 11_000_000, PATIENCE);
    expect(mainPid()).toBe(before);
    machine.must('cp /srv/good.yaml /etc/tailrace/tailrace.yaml; systemctl reload tailrace');
    await arrives('line while away');
    // The agent's own watchdog from here on: a short one ends it when the machine is busy.
    machine.must('rm -r /etc/systemd/system/tailrace.service.d; systemctl daemon-reload');
  });

  test('socket units hand their sockets over', async () => {
    machine.must(
      `printf '%s\\n' '/^sources:/a\\  net: {type: syslog, listen: ["systemd://syslog"]}' >/srv/edit.sed; sed -i -f /srv/edit.sed /etc/tailrace/tailrace.yaml`,
    );
    machine.must('systemctl stop tailrace; systemctl start tailrace-syslog.socket tailrace');
    machine.must(
      "logger --udp --server 127.0.0.1 --port 514 'datagram of logger'; logger --tcp --server 127.0.0.1 --port 514 'stream of logger'",
    );
    await arrives('datagram of logger');
    await arrives('stream of logger');
  });

  test('a restart of the unit loses nothing of what comes over socket units meanwhile', async () => {
    const before = mainPid();
    const logger = (way: string): string => `logger --${way} --server 127.0.0.1 --port 514 "${way} over a restart $i"`;
    // Between its connection and its message, a sender on a busy machine may wait for a processor.
    const slow = 'exec 3>/dev/tcp/127.0.0.1/514; sleep 0.03; echo "<13>slow over a restart $i" >&3; exec 3>&-';
    const loops = [logger('udp'), logger('tcp'), slow].map(
      (send) => `for i in $(seq 1 40); do ${send}; sleep 0.05; done &`,
    );
    machine.must(
      `cat >/srv/send.sh <<'END'\n${loops.join('\n')}\nsystemctl restart tailrace; wait\nEND\nbash /srv/send.sh`,
    );
    expect(mainPid()).not.toBe(before);
    const counts = (): number[] => ['udp', 'tcp', 'slow'].map((way) => stored(`${way} over a restart`));
    await until(
      'all of it in the service',
      () => counts().every((count) => count >= 40) || counts().join(' '),
      PATIENCE,
    );
    expect(counts()).toEqual([40, 40, 40]);
  });

  test('an instance of the template runs beside the first, with state and token of its own', async () => {
    machine.must(
      `cat >/etc/tailrace/other.yaml <<'END'
telemetry: {listen: none}
sources: {other: {type: file, include: ["/var/log/other/*.txt"]}}
sinks: {store: {type: ingest, url: "http://127.0.0.1:4100", token_file: token, dataset: hosts}}
END
install -m 600 /etc/tailrace/token /etc/tailrace/other.token; mkdir -p /var/log/other; echo 'line of an instance' >/var/log/other/a.txt; systemctl start tailrace@other`,
    );
    await arrives('line of an instance');
    expect(machine.run('test -e /var/lib/tailrace/other/state.db').status).toBe(0);
    machine.must(
      "sed -i '/^sources/s/}}$/, fields: {role: other}}}/' /etc/tailrace/other.yaml; systemctl reload tailrace@other",
    );
    machine.must(
      'systemctl stop tailrace@other; rm -r /etc/tailrace/other.yaml /etc/tailrace/other.token /var/lib/tailrace/other',
    );
    expect(state()).toBe('active');
  });

  test('init proposes the journal where the machine’s own log is in no file', () => {
    machine.must('tailrace init --yes --token-file /etc/tailrace/token --out /srv/init.yaml');
    expect(machine.must('cat /srv/init.yaml')).toMatch(/^ {2}journal:\n {4}# .*\n {4}type: journald$/m);
    machine.must('tailrace check --config /srv/init.yaml');
  });

  test('the journal is shipped once: with its history, over rotation, restarts and a vacuum', async () => {
    machine.must("logger -t shop 'journal line one'");
    await arrives('journal line one');
    machine.must(
      "systemctl stop tailrace; logger -t shop 'journal line beside a stop'; journalctl --rotate; logger -t shop 'journal line after a rotation'",
    );
    machine.must('systemctl start tailrace');
    await arrives('journal line after a rotation');
    machine.must("systemctl kill -s KILL tailrace; logger -t shop 'journal line beside a kill'");
    await arrives('journal line beside a kill');
    machine.must("systemctl restart systemd-journald; logger -t shop 'journal line after a restart of journald'");
    // A vacuum deletes rotated entries, read or not.
    await arrives('journal line after a restart of journald');
    machine.must("journalctl --rotate --vacuum-size=1; logger -t shop 'journal line after a vacuum'");
    await arrives('journal line after a vacuum');
    for (const text of [
      'one',
      'beside a stop',
      'after a rotation',
      'beside a kill',
      'after a restart of journald',
      'after a vacuum',
    ])
      expect([text, stored(`journal line ${text}`)]).toEqual([text, 1]);
    expect(stored('Started tailrace.service')).toBeGreaterThan(0);
  });

  test('an upgrade keeps configuration and state, and restarts', async () => {
    const before = mainPid();
    machine.must(
      `cd /srv && dpkg-deb -R tailrace.deb next && sed -i 's/^Version: .*/Version: 99.0.0/' next/DEBIAN/control && dpkg-deb -Zgzip -z1 -b next next.deb && dpkg -i next.deb`,
    );
    machine.must(`echo 'line after an upgrade' >>/var/log/added/a.txt`);
    await arrives('line after an upgrade');
    expect(mainPid()).not.toBe(before);
    expect(machine.must('cat /etc/tailrace/tailrace.yaml')).toContain('systemd://syslog');
    expect(stored('line of an added file')).toBe(1);
    machine.must('dpkg -i /srv/tailrace.deb');
    machine.must(`echo 'line after going back' >>/var/log/added/a.txt`);
    await arrives('line after going back');
    expect(stored('line of an added file')).toBe(1);
  });

  test('going back to a version that does not know the state’s format is refused with the remedy, and changes nothing', async () => {
    // The format's number is in bytes 60 to 63 of the database.
    const write = (bytes: string): string =>
      `printf '${bytes}' | dd of=/var/lib/tailrace/state.db bs=1 seek=60 conv=notrunc status=none`;
    machine.must('systemctl stop tailrace; cp -a /var/lib/tailrace/state.db /srv/state.db');
    machine.must(
      `${write('\\000\\000\\000\\143')}; cp /var/lib/tailrace/state.db /srv/newer.db; dpkg -i /srv/tailrace.deb`,
    );
    machine.run('systemctl start tailrace');
    await until(
      'the log names the remedy',
      () => /install that version again/.test(machine.must('journalctl -u tailrace -o cat')),
      PATIENCE,
    );
    machine.must('systemctl stop tailrace; cmp /srv/newer.db /var/lib/tailrace/state.db');
    machine.must(
      'cp -a /srv/state.db /var/lib/tailrace/state.db; systemctl reset-failed tailrace; systemctl start tailrace',
    );
    machine.must(`echo 'line after the remedy' >>/var/log/added/a.txt`);
    await arrives('line after the remedy');
    expect(stored('line of an added file')).toBe(1);
  });

  test('an upgrade on a full state disk loses nothing, says so, and goes on once there is room', async () => {
    machine.must(
      'systemctl stop tailrace; cp -a /var/lib/tailrace /srv/state; mount -t tmpfs -o size=48m tmpfs /var/lib/tailrace; cp -a /srv/state/. /var/lib/tailrace; systemctl start tailrace',
    );
    const saysFull = (): boolean => /positions cannot be saved: .*full; free space in data_dir/.test(statusText());
    // An agent that stores a batch frees room for the next: full is a disk that is filled again until the agent says so.
    const fills = (): boolean => {
      machine.must(
        'dd if=/dev/zero bs=4k >>/var/lib/tailrace/filler 2>/dev/null || true; echo filling >>/var/log/added/a.txt',
      );
      return saysFull();
    };
    await until('the disk is full', fills, PATIENCE);
    const before = mainPid();
    machine.must(`echo 'line on a full disk' >>/var/log/added/a.txt; dpkg -i /srv/next.deb`);
    expect(mainPid()).not.toBe(before);
    await until('the new version says that it is full', fills, PATIENCE);
    expect(machine.must('journalctl -u tailrace -o cat')).toContain(
      'cannot save the positions of a batch, so it is not sent yet; free space',
    );
    machine.must('rm /var/lib/tailrace/filler');
    await arrives('line on a full disk');
    expect(stored('line of an added file')).toBe(1);
    expect(stored('line on a full disk')).toBe(1);
  });

  test('an upgrade on a full /etc leaves the old version running, and works once there is room', async () => {
    const before = mainPid();
    machine.must(
      'cp -a /etc/tailrace /srv/etc; mount -t tmpfs -o size=256k tmpfs /etc/tailrace; cp -a /srv/etc/. /etc/tailrace; dd if=/dev/zero of=/etc/tailrace/filler bs=1k 2>/dev/null || true',
    );
    const { status, out } = machine.run('dpkg -i /srv/tailrace.deb');
    expect(status).not.toBe(0);
    expect(out).toContain('No space left on device');
    expect(machine.must("dpkg-query -W -f '${Status} ${Version}' tailrace")).toBe('install ok installed 99.0.0');
    machine.must(`echo 'line beside a failed upgrade' >>/var/log/added/a.txt`);
    await arrives('line beside a failed upgrade');
    expect(mainPid()).toBe(before);
    machine.must('rm /etc/tailrace/filler; dpkg -i /srv/tailrace.deb');
    expect(machine.must('cat /etc/tailrace/tailrace.yaml')).toContain('systemd://syslog');
    machine.must(`echo 'line after the upgrade at last' >>/var/log/added/a.txt`);
    await arrives('line after the upgrade at last');
    expect(mainPid()).not.toBe(before);
    expect(stored('line on a full disk')).toBe(1);
    machine.must('systemctl stop tailrace; umount /etc/tailrace /var/lib/tailrace');
  });

  test('remove keeps configuration and state, purge takes both', () => {
    machine.must('dpkg -r tailrace');
    expect(machine.run('test -e /etc/tailrace/tailrace.yaml && test -e /var/lib/tailrace/state.db').status).toBe(0);
    expect(state()).not.toBe('active');
    machine.must('dpkg -P tailrace');
    expect(machine.run('ls -d /etc/tailrace /var/lib/tailrace /usr/bin/tailrace').out).not.toMatch(/^\//m);
  });
});
