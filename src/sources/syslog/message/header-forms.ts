/**
 * The headers that senders write, a row each: docs/syslog.md and the tests are made from this table, and what the kernel does not read itself is read by it.
 * CONTRIBUTING.md tells how a form is added.
 */

export interface HeaderForm {
  /** Who writes it. */
  readonly sender: string;
  /**
   * A message, received on 2026-07-10 at 08:00 UTC by a source in Europe/Athens, and its event without `facility`, `severity` and `peer`.
   */
  readonly example: string;
  readonly event: Readonly<Record<string, unknown>>;
  /** The kernel reads it alone. */
  readonly isKernels?: true;
  /** Of a form that JavaScript reads, unless another row's does. */
  readonly read?: FormReader;
}

export interface FormReader {
  /** How it begins where that is a word, at least: the kernel takes other words for text. */
  readonly begins?: readonly string[];
  /** The text after the priority, up to the time, which its end looks at; a group `host` is one. */
  readonly before: RegExp;
  /**
   * The text between the time and the rest. A group `colon` says that no host follows, a group `host` is one. Absent: there is no time, and
   * a tag follows.
   */
  readonly behind?: RegExp;
  /** The time, and perhaps the host, is in `name=value` pairs behind `before`. */
  readonly isPairs?: true;
}

const form = (before: string): RegExp => new RegExp(before, 'y');
const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) ';
const BSD = `(?=${MONTH})`;
const ISO = String.raw`(?=\d{4}[-/]\d\d[-/]\d\d[T ])`;
const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const HOST = String.raw`(?<host>[\w.-]{1,255}|\d[\da-f]{0,3}(?::[\da-f]{0,4}){2,7})`;
/** Of Cisco: the number of the message, origin-id, sequence number, and a mark for a clock that is not set. */
const CLOCK = String.raw`[*.]?(?:\d\d:\d\d:\d\d(?:\.\d{1,9})?|(?:\d{1,4}[ywdh]){1,4})`;
const CISCO = String.raw` *(?:\d{1,10}: )?(?:(?!\d{1,10}: |\d{4}-\d\d-|${CLOCK}: )${HOST}: )?(?:\d{1,10}: )?`;
const BEHIND = /(?:(?<colon>: ?| {1,2}: {1,2})| |$)/y;

/** The first that fits is taken; those without `read` are the kernel's. */
export const HEADER_FORMS: readonly HeaderForm[] = [
  {
    sender: 'RFC 5424: rsyslog, syslog-ng, Juniper (structured-data), Check Point',
    example: '<165>1 2026-07-10T10:59:59.133+03:00 srx mgd 3046 UI_LOGOUT [junos@2636.1 username="alice"] User alice exiting',
    event: { _time: '2026-07-10T10:59:59.133+03:00', host: 'srx', appname: 'mgd', procid: '3046', msgid: 'UI_LOGOUT', structured_data: { 'junos@2636.1': { username: 'alice' } }, message: 'User alice exiting' },
    isKernels: true,
  },
  {
    sender: 'RFC 3164: Linux, BSD, most devices',
    example: '<86>Jul 10 10:59:59 web-1 sshd[4242]: Accepted publickey for root',
    event: { _time: '2026-07-10T07:59:59Z', host: 'web-1', appname: 'sshd', procid: '4242', message: 'Accepted publickey for root' },
    isKernels: true,
  },
  {
    sender: 'programs that write to `/dev/log`',
    example: '<78>Jul 10 10:59:59 cron[12]: started',
    event: { _time: '2026-07-10T07:59:59Z', appname: 'cron', procid: '12', message: 'started' },
    isKernels: true,
  },
  {
    sender: 'RFC 3164 with an ISO time: rsyslog, VMware ESXi',
    example: '<14>2026-07-10T07:59:59.123Z esx1.example Hostd: info hostd[2099] [Originator@6876 sub=Vimsvc] x',
    event: { _time: '2026-07-10T07:59:59.123Z', host: 'esx1.example', appname: 'Hostd', message: 'info hostd[2099] [Originator@6876 sub=Vimsvc] x' },
    isKernels: true,
  },
  {
    sender: 'RFC 5424 with a time of another form',
    example: '<166>1 2026-07-10 10:59:59.886 sonic syncd 12 - - x',
    event: { _time: '2026-07-10T07:59:59.886Z', host: 'sonic', appname: 'syncd', procid: '12', message: 'x' },
  },
  {
    sender: 'RFC 5424 without structured data: CyberArk, Kaspersky, Prisma, QRadar sources',
    example: '<111>1 2026-07-10T07:59:59Z vault CEF:0|Cyber-Ark|Vault|12|7|Logon|5|act=Logon',
    event: { _time: '2026-07-10T07:59:59Z', host: 'vault', message: 'CEF:0|Cyber-Ark|Vault|12|7|Logon|5|act=Logon' },
    read: { before: form(`1 ${ISO}`), behind: / /y },
  },
  {
    sender: 'Cisco Meraki',
    example: '<134>1 1783670399.400250000 MX118 events type=vpn_connectivity_change',
    event: { _time: '2026-07-10T07:59:59.400250000Z', host: 'MX118', message: 'events type=vpn_connectivity_change' },
    read: { before: /1 (?=\d{10}[. ])/y, behind: / /y },
  },
  {
    sender: 'Cisco IOS without a date',
    example: '<187>29: R1: 00:00:46: %LINK-3-UPDOWN: Interface Vlan1, changed state to up',
    event: { host: 'R1', appname: '%LINK-3-UPDOWN', message: 'Interface Vlan1, changed state to up' },
    read: { before: form(String.raw`(?:: )?${CISCO}(?:${CLOCK}: )?(?=%[A-Z][\w-]{1,64}-\d-)`) },
  },
  {
    sender: 'Cisco Nexus (NX-OS), UCS',
    example: '<189>: 2026 Jul 10 10:59:59 EEST: %L2FM-4-L2FM_MAC_MOVE: Mac has moved',
    event: { _time: '2026-07-10T07:59:59Z', appname: '%L2FM-4-L2FM_MAC_MOVE', message: 'Mac has moved' },
    read: { before: form(String.raw` ?(?:\d{1,10}: )?(?:${HOST} ?: |: ?)?(?=\d{4} ${MONTH})`), behind: /(?<colon>: ?| : {1,2})| (?![A-Z]{1,4}[+-]\d)/y },
  },
  {
    sender: 'Cisco Nexus with an origin-id',
    example: '<189>nexus1: 2026 Jul 10 07:59:59 UTC: %ETHPORT-5-IF_UP: Interface up',
    event: { _time: '2026-07-10T07:59:59Z', host: 'nexus1', appname: '%ETHPORT-5-IF_UP', message: 'Interface up' },
  },
  {
    sender: 'Cisco ASA (EMBLEM)',
    example: '<166>:Jul 10 07:59:59 UTC: %ASA-6-302013: Built inbound TCP connection',
    event: { _time: '2026-07-10T07:59:59Z', appname: '%ASA-6-302013', message: 'Built inbound TCP connection' },
    read: { begins: [':'], before: form(`: ?${BSD}`), behind: BEHIND },
  },
  {
    sender: 'Cisco ASA, FTD: in a context',
    example: '<166>Jul 10 10:59:59 fw/admin : %ASA-6-302013: Built',
    event: { _time: '2026-07-10T07:59:59Z', host: 'fw/admin', appname: '%ASA-6-302013', message: 'Built' },
    isKernels: true,
  },
  {
    sender: 'Cisco IOS-XR',
    example: '<190>1247: R1 RP/0/RSP0/CPU0:Jul 10 07:59:59.123 UTC: ifmgr[142]: %PKT_INFRA-LINK-3-UPDOWN : Interface Up',
    event: { _time: '2026-07-10T07:59:59.123Z', host: 'R1', appname: 'ifmgr', procid: '142', message: '%PKT_INFRA-LINK-3-UPDOWN : Interface Up' },
    read: { begins: ['RP/', 'LC/', 'DRP/', 'SP/'], before: form(String.raw`(?:\d{1,10}: )?(?:(?!\w{2,3}\/)${HOST}:? )?(?:RP|LC|SP|DRP)\/[\w\/]{1,24}: ?[*.]?${BSD}`), behind: BEHIND },
  },
  {
    sender: 'Cisco WLC',
    example: '<134>wlc1: *Dot1x_NW_MsgTask_0: Jul 10 10:59:59.123: %DOT1X-3-ABORT_AUTH: 1x_auth.c:447 Authentication Aborted',
    event: { _time: '2026-07-10T07:59:59.123Z', host: 'wlc1', appname: '%DOT1X-3-ABORT_AUTH', message: '1x_auth.c:447 Authentication Aborted' },
    read: { before: form(String.raw`(?:${HOST}: )?\*[\w-]{1,64}: ${BSD}`), behind: BEHIND },
  },
  {
    sender: 'FortiGate, FortiWeb, FortiManager, Sophos Firewall',
    example: '<189>date=2026-07-10 time=02:59:59 devname="FG100" devid="FG100E" eventtime=1783670399400250000 tz="-0500" type="traffic"',
    event: { _time: '2026-07-10T07:59:59Z', host: 'FG100', message: 'date=2026-07-10 time=02:59:59 devname="FG100" devid="FG100E" eventtime=1783670399400250000 tz="-0500" type="traffic"' },
    read: { begins: ['date', 'devi', 'logv', 'time'], before: /(?=(?:date|device|device_name|logver|timestamp)=)/y, isPairs: true },
  },
  {
    sender: 'SonicWall, Stormshield',
    example: '<134>id=firewall sn=0017C5A1B2C3 time="2026-07-10 07:59:59 UTC" fw=192.0.2.7 pri=6 c=262144 m=98 msg="Connection Opened"',
    event: { _time: '2026-07-10T07:59:59Z', host: '192.0.2.7', message: 'id=firewall sn=0017C5A1B2C3 time="2026-07-10 07:59:59 UTC" fw=192.0.2.7 pri=6 c=262144 m=98 msg="Connection Opened"' },
    read: { begins: ['id='], before: / *(?=id=)/y, isPairs: true },
  },
  {
    sender: 'Check Point (Splunk format)',
    example: '<134>time=1783670399|hostname=gw|severity=Medium|product=Firewall|action=Drop',
    event: { _time: '2026-07-10T07:59:59Z', host: 'gw', message: 'time=1783670399|hostname=gw|severity=Medium|product=Firewall|action=Drop' },
    read: { begins: ['time'], before: /(?=time=)/y, isPairs: true },
  },
  {
    sender: 'Check Point (Log Exporter)',
    example: '<134>1 2026-07-10T07:59:59Z gw CheckPoint 1930 - [action:"Drop"; flags:"400644"]',
    event: { _time: '2026-07-10T07:59:59Z', host: 'gw', appname: 'CheckPoint', procid: '1930', message: '[action:"Drop"; flags:"400644"]' },
  },
  {
    sender: 'Citrix NetScaler',
    example: '<134> 07/10/2026:07:59:59 GMT ns01 0-PPE-0 : default TCP CONN_DELINK 123 0 : Source 10.0.0.1:1',
    event: { _time: '2026-07-10T07:59:59Z', host: 'ns01', message: '0-PPE-0 : default TCP CONN_DELINK 123 0 : Source 10.0.0.1:1' },
    read: { before: / *(?=\d\d\/\d\d\/\d{4}:)/y, behind: / {1,2}/y },
  },
  {
    sender: 'Sophos UTM',
    example: '<30>2026:07:10-10:59:59 asg ulogd[4712]: id="2001" severity="info"',
    event: { _time: '2026-07-10T07:59:59Z', host: 'asg', appname: 'ulogd', procid: '4712', message: 'id="2001" severity="info"' },
    read: { before: /(?=\d{4}:\d\d:\d\d-)/y, behind: / /y },
  },
  {
    sender: 'F5 BIG-IP',
    example: '<133>Jul 10 10:59:59 slot1/bigip1 notice mcpd[5281]: 01070417:5: AUDIT - user admin',
    event: { _time: '2026-07-10T07:59:59Z', host: 'slot1/bigip1', appname: 'mcpd', procid: '5281', message: '01070417:5: AUDIT - user admin' },
    isKernels: true,
  },
  {
    sender: 'VMware ESXi',
    example: '<182>2026-07-10T07:59:59.080Z In(182) vmkernel: cpu21:2099003)ScsiDeviceIO: 4167',
    event: { _time: '2026-07-10T07:59:59.080Z', appname: 'vmkernel', message: 'cpu21:2099003)ScsiDeviceIO: 4167' },
    isKernels: true,
  },
  {
    sender: 'Ubiquiti UniFi',
    example: '<30>Jul 10 10:59:59 U7PG2,788a20aabbcc,v4.3.20 hostapd: ath0: STA associated',
    event: { _time: '2026-07-10T07:59:59Z', host: 'U7PG2,788a20aabbcc,v4.3.20', appname: 'hostapd', message: 'ath0: STA associated' },
    read: { before: form(` *${BSD}`), behind: / (?:\(")?(?<host>[\w-]{1,64},[\da-f]{12},v?[\w.+-]{1,64})(?:"\))?:? /y },
  },
  {
    sender: 'Ubiquiti UniFi with a name',
    example: '<30>Jul 10 10:59:59 AP-Office 788a20aabbcc,UAP-AC-Pro-6.0.21+14: hostapd[1234]: ath0: STA associated',
    event: { _time: '2026-07-10T07:59:59Z', host: 'AP-Office', appname: 'hostapd', procid: '1234', message: 'ath0: STA associated' },
    read: { before: form(` *(?=${MONTH})`), behind: / (?:(?<host>[\w.-]{1,255}) )?[\da-f]{12},[\w.+-]{1,64}: /y },
  },
  {
    sender: 'IBM AIX, forwarded',
    example: '<38>Jul 10 10:59:59 Message forwarded from aix1: sshd[1234]: Accepted',
    event: { _time: '2026-07-10T07:59:59Z', host: 'aix1', appname: 'sshd', procid: '1234', message: 'Accepted' },
    read: { before: form(` *${BSD}`), behind: / Message forwarded from (?<host>[\w.-]{1,255}): /y },
  },
  {
    sender: 'a host in brackets: NetApp, an address',
    example: '<13>Jul 10 10:59:59 [netapp1:callhome.performance:info]: Call home',
    event: { _time: '2026-07-10T07:59:59Z', host: 'netapp1', message: '[netapp1:callhome.performance:info]: Call home' },
    read: { before: form(` *(?:${BSD}|${ISO})`), behind: / (?:\[(?<address>\d{1,3}(?:\.\d{1,3}){3}|[\da-f]{0,4}(?::[\da-f]{0,4}){2,7})\] |(?=\[(?<host>[\w.-]{1,255}):[\w.: ]{1,128}:[a-z]{1,16}\]))/y },
  },
  {
    sender: 'Juniper NetScreen',
    example: '<134>ns5gt: NetScreen device_id=ns5gt  [Root]system-notification-00257(traffic): start_time="2026-07-10 10:59:59" duration=0',
    event: { _time: '2026-07-10T07:59:59Z', host: 'ns5gt', message: 'NetScreen device_id=ns5gt  [Root]system-notification-00257(traffic): start_time="2026-07-10 10:59:59" duration=0' },
    read: { before: form(`${HOST}: (?=NetScreen )`), isPairs: true },
  },
  {
    sender: 'Clavister, and others with a time in brackets',
    example: '<134>[2026-07-10 10:59:59] FW: CONN: prio=1 id=00600001',
    event: { _time: '2026-07-10T07:59:59Z', appname: 'FW', message: 'CONN: prio=1 id=00600001' },
    read: { begins: ['[20'], before: form(String.raw`\[${ISO}`), behind: /\](?<colon>: ?| )/y },
  },
  {
    sender: 'an address in front of the time',
    example: '<86>192.0.2.7 Jul 10 10:59:59 sshd[4242]: Accepted publickey for root',
    event: { _time: '2026-07-10T07:59:59Z', host: '192.0.2.7', appname: 'sshd', procid: '4242', message: 'Accepted publickey for root' },
    read: { before: form(String.raw`(?<host>\d{1,3}(?:\.\d{1,3}){3}) ${BSD}`), behind: BEHIND },
  },
  {
    sender: 'a day of the week in front, or the day before the month',
    example: '<46>Fri Jul 10 10:59:59 2026 gw app[12]: x',
    event: { _time: '2026-07-10T07:59:59Z', host: 'gw', appname: 'app', procid: '12', message: 'x' },
    read: { begins: WEEKDAYS, before: form(String.raw` *(?=(?:(?:${WEEKDAYS.join('|')}),? ${MONTH})|(?:(?:${WEEKDAYS.join('|')}),? )?\d{1,2} ${MONTH}\d{4} )`), behind: BEHIND },
  },
  {
    sender: 'Cisco IOS: numbers, origin-id, a mark of the clock, year, zone',
    example: '<189>29: R1: 000031: *Jul 10 2026 10:59:59.123 EEST: %SYS-5-CONFIG_I: Configured from console',
    event: { _time: '2026-07-10T07:59:59.123Z', host: 'R1', appname: '%SYS-5-CONFIG_I', message: 'Configured from console' },
    read: { before: form(`${CISCO}[*.]?${BSD}`), behind: BEHIND },
  },
  {
    sender: 'RFC 3164 with an ISO time and a zone by its name, or one that is no RFC 3339; H3C, Huawei, Aruba with a year behind the clock',
    example: '<14>2026-07-10 10:59:59,5 EEST gw app: x',
    event: { _time: '2026-07-10T07:59:59.5Z', host: 'gw', appname: 'app', message: 'x' },
    read: { before: form(` *${ISO}`), behind: BEHIND },
  },
]; // prettier-ignore
