/**
 * The headers that senders write, a row each: docs/syslog.md and the tests are made from this table, and what the kernel does not read itself is read by it.
 * CONTRIBUTING.md tells how a form is added.
 */

export interface HeaderForm {
  /** Who writes it. */
  readonly sender: string;
  /** A message, received on 2026-07-10 at 08:00 UTC by a source in Europe/Athens, and of its event what is not `facility`, `severity` or `peer`. */
  readonly example: string;
  readonly event: Readonly<Record<string, unknown>>;
  /** Of a form that JavaScript reads: */
  readonly read?: FormReader;
}

export interface FormReader {
  /** How it begins where that is a word, at least: the kernel takes other words for text. */
  readonly begins?: string;
  /** What stands behind the priority, up to the time, which its end looks at; a group `host` is one. */
  readonly before: RegExp;
  /** What stands between the time and the rest. A group `colon` says that no host follows. */
  readonly behind: RegExp;
}

/** A time of RFC 3164, or of ISO 8601, is there. */
const MONTH = '(?=(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) )';
const ISO = String.raw`(?=\d{4}-\d\d-\d\d[T ])`;
const BEHIND = /(?:(?<colon>: ?| : )| |$)/y;

/** The first that fits is taken; those without `read` are the kernel's. */
export const HEADER_FORMS: readonly HeaderForm[] = [
  {
    sender: 'RFC 5424: rsyslog, syslog-ng, Juniper (structured-data), Check Point',
    example: '<165>1 2026-07-10T10:59:59.133+03:00 srx mgd 3046 UI_LOGOUT [junos@2636.1 username="alice"] User alice exiting',
    event: { _time: '2026-07-10T10:59:59.133+03:00', host: 'srx', appname: 'mgd', procid: '3046', msgid: 'UI_LOGOUT', structured_data: { 'junos@2636.1': { username: 'alice' } }, message: 'User alice exiting' },
  },
  {
    sender: 'RFC 3164: Linux, BSD, most devices',
    example: '<86>Jul 10 10:59:59 web-1 sshd[4242]: Accepted publickey for root',
    event: { _time: '2026-07-10T07:59:59Z', host: 'web-1', appname: 'sshd', procid: '4242', message: 'Accepted publickey for root' },
  },
  {
    sender: 'programs that write to `/dev/log`',
    example: '<78>Jul 10 10:59:59 cron[12]: started',
    event: { _time: '2026-07-10T07:59:59Z', appname: 'cron', procid: '12', message: 'started' },
  },
  {
    sender: 'RFC 3164 with an ISO time: rsyslog, VMware ESXi',
    example: '<14>2026-07-10T07:59:59.123Z esx1.example Hostd: info hostd[2099] [Originator@6876 sub=Vimsvc] x',
    event: { _time: '2026-07-10T07:59:59.123Z', host: 'esx1.example', appname: 'Hostd', message: 'info hostd[2099] [Originator@6876 sub=Vimsvc] x' },
  },
  {
    sender: 'Cisco IOS, ASA and others: sequence number, origin-id, mark of the clock, year, zone',
    example: '<189>45: router1: .Jul 10 2026 07:00:00.001 UTC: %SYS-5-CONFIG_I: Configured from console',
    event: { _time: '2026-07-10T07:00:00.001Z', host: 'router1', appname: '%SYS-5-CONFIG_I', message: 'Configured from console' },
    read: { before: new RegExp(String.raw` *(?:\d{1,10}: )?(?:(?<host>[\w.-]{1,255}): )?[*.]?${MONTH}`, 'y'), behind: BEHIND },
  },
  {
    sender: 'RFC 3164 with an ISO time and a zone by its name, or one that is no RFC 3339',
    example: '<14>2026-07-10 10:59:59,5 EEST gw app: x',
    event: { _time: '2026-07-10T07:59:59.5Z', host: 'gw', appname: 'app', message: 'x' },
    read: { before: new RegExp(` *${ISO}`, 'y'), behind: BEHIND },
  },
]; // prettier-ignore
