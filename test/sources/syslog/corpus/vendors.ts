/** What appliances and daemons send, written after the public documentation of each. */
import { common, rare, type Sample } from './sample.ts';

const jul10 = '2026-07-10T07:59:59Z';
const fortigate =
  'date=2026-07-10 time=10:59:59 devname="FG100" devid="FG100E" logid="0000000013" type="traffic" subtype="forward" level="notice" vd="root" srcip=10.1.100.11 action="accept" msg="a b"';
const cef = 'CEF:0|Security|threatmanager|1.0|100|worm successfully stopped|10|src=10.0.0.1 dst=2.1.2.2 spt=1232';
const leef = 'LEEF:1.0|Microsoft|MSExchange|4.0 SP1|15345|src=192.0.2.0\tdst=172.50.123.1\tsev=5';
const pfsense = '4,,,1000000103,em0,match,block,in,4,0x0,,64,0,0,DF,6,tcp,60,10.0.0.1,10.0.0.2,40000,22,0,S,1,,64240,,mss';
const paloAlto = '1,2026/07/10 10:59:59,007200001056,TRAFFIC,end,1,2026/07/10 10:59:59,192.168.0.2,204.79.197.200,0.0.0.0,0.0.0.0,rule1';

export const vendors: Sample[] = [
  // Cisco IOS: sequence numbers, marks of the clock, hosts, years, zones.
  rare('<187>29: *Mar  1 18:46:11.123: %LINK-3-UPDOWN: Interface GigabitEthernet0/1, changed state to up', {
    _time: '2026-03-01T16:46:11.123Z',
    appname: '%LINK-3-UPDOWN',
    message: 'Interface GigabitEthernet0/1, changed state to up',
  }),
  rare('<189>45: router1: .Jul 10 2026 07:00:00.001 UTC: %SYS-5-CONFIG_I: Configured from console by vty0 (10.0.0.1)', {
    _time: '2026-07-10T07:00:00.001Z',
    host: 'router1',
    appname: '%SYS-5-CONFIG_I',
    message: 'Configured from console by vty0 (10.0.0.1)',
  }),
  rare('<189>46: Jul 10 10:59:59.500 EEST: %SYS-5-CONFIG_I: Configured', {
    _time: '2026-07-10T07:59:59.500Z',
    appname: '%SYS-5-CONFIG_I',
    message: 'Configured',
  }),
  rare('<189>switch2: Jul 10 10:59:59: %SYS-5-RESTART: System restarted', {
    _time: jul10,
    host: 'switch2',
    appname: '%SYS-5-RESTART',
    message: 'System restarted',
  }),
  rare('<189>: %SYS-5-RESTART: System restarted', { message: ': %SYS-5-RESTART: System restarted' }),
  // Cisco ASA, NX-OS.
  rare('<166>Jul 10 2026 10:59:59 asa01 : %ASA-6-302013: Built inbound TCP connection 1 for outside:1.2.3.4/80', {
    _time: jul10,
    host: 'asa01',
    appname: '%ASA-6-302013',
    message: 'Built inbound TCP connection 1 for outside:1.2.3.4/80',
  }),
  common('<166>Jul 10 10:59:59 asa01 : %ASA-6-302013: Built', { _time: jul10, host: 'asa01', appname: '%ASA-6-302013', message: 'Built' }),
  rare('<166>Jul 10 2026 10:59:59: %ASA-6-302014: Teardown', { _time: jul10, appname: '%ASA-6-302014', message: 'Teardown' }),
  common('<166>%ASA-6-302014: Teardown', { appname: '%ASA-6-302014', message: 'Teardown' }),
  rare('<189>: 2026 Jul 10 10:59:59 UTC: %ETHPORT-5-IF_UP: Interface up', {
    message: ': 2026 Jul 10 10:59:59 UTC: %ETHPORT-5-IF_UP: Interface up',
  }),
  // FortiGate, Palo Alto, Check Point.
  common(`<189>${fortigate}`, { message: fortigate }),
  common(`<14>Jul 10 10:59:59 PA-220 ${paloAlto}`, { _time: jul10, host: 'PA-220', message: paloAlto }),
  common('<134>1 2026-07-10T07:59:59Z cp-gw CheckPoint 1930 - - [action:"Drop"; flags:"400644"]', {
    _time: jul10,
    host: 'cp-gw',
    appname: 'CheckPoint',
    procid: '1930',
    message: '[action:"Drop"; flags:"400644"]',
  }),
  // Juniper, in both forms.
  common('<29>Jul 10 10:59:59 srx mgd[3046]: UI_LOGIN_EVENT: User alice login', {
    _time: jul10,
    host: 'srx',
    appname: 'mgd',
    procid: '3046',
    message: 'UI_LOGIN_EVENT: User alice login',
  }),
  common(
    '<165>1 2026-07-10T10:59:59.133+03:00 srx mgd 3046 UI_DBASE_LOGOUT_EVENT [junos@2636.1.1.1.2.18 username="alice"] User alice exiting',
    {
      _time: '2026-07-10T10:59:59.133+03:00',
      host: 'srx',
      appname: 'mgd',
      procid: '3046',
      msgid: 'UI_DBASE_LOGOUT_EVENT',
      structured_data: { 'junos@2636.1.1.1.2.18': { username: 'alice' } },
      message: 'User alice exiting',
    },
  ),
  // Mikrotik, Ubiquiti, pfSense, Synology, QNAP.
  common('<30>system,info,account user admin logged in from 10.0.0.2 via ssh', {
    message: 'system,info,account user admin logged in from 10.0.0.2 via ssh',
  }),
  common('<30>Jul 10 10:59:59 MikroTik firewall,info forward: in:ether1 out:bridge', {
    _time: jul10,
    host: 'MikroTik',
    message: 'firewall,info forward: in:ether1 out:bridge',
  }),
  common('<30>Jul 10 10:59:59 U7PG2,788a20aabbcc,v4.3.20 hostapd: ath0: STA', {
    _time: jul10,
    message: 'U7PG2,788a20aabbcc,v4.3.20 hostapd: ath0: STA',
  }),
  common(`<134>Jul 10 10:59:59 filterlog[88]: ${pfsense}`, { _time: jul10, appname: 'filterlog', procid: '88', message: pfsense }),
  common('<14>Jul 10 10:59:59 nas Connection: User [admin] logged in', {
    _time: jul10,
    host: 'nas',
    appname: 'Connection',
    message: 'User [admin] logged in',
  }),
  // Event formats on top of syslog.
  common(`<13>Jul 10 10:59:59 host ${cef}`, { _time: jul10, host: 'host', message: cef }),
  common(`<13>${leef}`, { message: leef }),
  common('<13>1 2026-07-10T07:59:59Z host app - - - @cee: {"a":1}', {
    _time: jul10,
    host: 'host',
    appname: 'app',
    message: '@cee: {"a":1}',
  }),
  // VMware ESXi, HAProxy, nginx, Kubernetes' and Docker's syslog drivers, Heroku, Snare.
  common('<14>2026-07-10T07:59:59.123Z esx1.example Hostd: info hostd[2099] [Originator@6876 sub=Vimsvc] x', {
    _time: '2026-07-10T07:59:59.123Z',
    host: 'esx1.example',
    appname: 'Hostd',
    message: 'info hostd[2099] [Originator@6876 sub=Vimsvc] x',
  }),
  common(
    '<134>Jul 10 10:59:59 haproxy[674]: 10.0.0.1:1234 [10/Jul/2026:10:59:59.000] http-in static/srv1 10/0/30/69/109 200 2750 "GET / HTTP/1.1"',
    {
      _time: jul10,
      appname: 'haproxy',
      procid: '674',
      message: '10.0.0.1:1234 [10/Jul/2026:10:59:59.000] http-in static/srv1 10/0/30/69/109 200 2750 "GET / HTTP/1.1"',
    },
  ),
  common('<190>Jul 10 10:59:59 web1 nginx: 10.0.0.1 - - "GET / HTTP/1.1" 200 612', {
    _time: jul10,
    host: 'web1',
    appname: 'nginx',
    message: '10.0.0.1 - - "GET / HTTP/1.1" 200 612',
  }),
  common('<30>2026-07-10T10:59:59+03:00 node1 9b2c1d[1234]: container says', {
    _time: '2026-07-10T10:59:59+03:00',
    host: 'node1',
    appname: '9b2c1d',
    procid: '1234',
    message: 'container says',
  }),
  common('<40>1 2026-07-10T07:59:59+00:00 host heroku router - - at=info method=GET path="/"', {
    _time: '2026-07-10T07:59:59+00:00',
    host: 'host',
    appname: 'heroku',
    procid: 'router',
    message: 'at=info method=GET path="/"',
  }),
  common('<13>Jul 10 10:59:59 WIN1 MSWinEventLog\t1\tSecurity\t42', {
    _time: jul10,
    host: 'WIN1',
    message: 'MSWinEventLog\t1\tSecurity\t42',
  }),
  // systemd-journald's forwarding, rsyslog's and syslog-ng's own.
  common('<30>Jul 10 10:59:59 dbus-daemon[700]: [system] Activating service', {
    _time: jul10,
    appname: 'dbus-daemon',
    procid: '700',
    message: '[system] Activating service',
  }),
  common('<46>Jul 10 10:59:59 host rsyslogd:  [origin software="rsyslogd" swVersion="8.2302.0"] start', {
    _time: jul10,
    host: 'host',
    appname: 'rsyslogd',
    message: ' [origin software="rsyslogd" swVersion="8.2302.0"] start',
  }),
  common('<43>1 2026-07-10T10:59:59+03:00 host syslog-ng 1234 - [meta sequenceId="1"] syslog-ng starting up; version=\'3.38.1\'', {
    _time: '2026-07-10T10:59:59+03:00',
    host: 'host',
    appname: 'syslog-ng',
    procid: '1234',
    structured_data: { meta: { sequenceId: '1' } },
    message: "syslog-ng starting up; version='3.38.1'",
  }),
  common('<38>2026-07-10T10:59:59 localhost prg00000[1234]: seq: 0000000000, thread: 0000', {
    _time: jul10,
    host: 'localhost',
    appname: 'prg00000',
    procid: '1234',
    message: 'seq: 0000000000, thread: 0000',
  }),
  common('<5>Jul 10 10:59:59 host kernel: [   12.345678] audit: type=1400', {
    _time: jul10,
    host: 'host',
    appname: 'kernel',
    message: '[   12.345678] audit: type=1400',
  }),
  common('<86>Jul 10 10:59:59 host sshd[4242]: Accepted publickey for root from 10.0.0.1 port 50000 ssh2: ED25519 SHA256:abc', {
    _time: jul10,
    host: 'host',
    appname: 'sshd',
    procid: '4242',
    message: 'Accepted publickey for root from 10.0.0.1 port 50000 ssh2: ED25519 SHA256:abc',
  }),
];
