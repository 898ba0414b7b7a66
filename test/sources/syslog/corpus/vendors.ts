/** What appliances and daemons send, written after the public documentation of each. */
import { common, rare, type Sample } from './sample.ts';

/** Messages, and below each the time, host, appname, procid and text of its event, `-` for an absent one; after `~` if it is a rare one. */
const TABLE = `
// Cisco IOS: sequence numbers, marks of the clock, hosts, years, zones.
<187>29: *Mar  1 18:46:11.123: %LINK-3-UPDOWN: Interface GigabitEthernet0/1, changed state to up
~ 2026-03-01T16:46:11.123Z - %LINK-3-UPDOWN - Interface GigabitEthernet0/1, changed state to up
<189>45: router1: .Jul 10 2026 07:00:00.001 UTC: %SYS-5-CONFIG_I: Configured from console by vty0 (10.0.0.1)
~ 2026-07-10T07:00:00.001Z router1 %SYS-5-CONFIG_I - Configured from console by vty0 (10.0.0.1)
<189>46: Jul 10 10:59:59.500 EEST: %SYS-5-CONFIG_I: Configured
~ 2026-07-10T07:59:59.500Z - %SYS-5-CONFIG_I - Configured
<189>switch2: Jul 10 10:59:59: %SYS-5-RESTART: System restarted
~ 2026-07-10T07:59:59Z switch2 %SYS-5-RESTART - System restarted
<189>: %SYS-5-RESTART: System restarted
~ - - %SYS-5-RESTART - System restarted
// Cisco ASA, NX-OS.
<166>Jul 10 2026 10:59:59 asa01 : %ASA-6-302013: Built inbound TCP connection 1 for outside:1.2.3.4/80
~ 2026-07-10T07:59:59Z asa01 %ASA-6-302013 - Built inbound TCP connection 1 for outside:1.2.3.4/80
<166>Jul 10 10:59:59 asa01 : %ASA-6-302013: Built
= 2026-07-10T07:59:59Z asa01 %ASA-6-302013 - Built
<166>Jul 10 2026 10:59:59: %ASA-6-302014: Teardown
~ 2026-07-10T07:59:59Z - %ASA-6-302014 - Teardown
<166>%ASA-6-302014: Teardown
= - - %ASA-6-302014 - Teardown
<189>: 2026 Jul 10 10:59:59 UTC: %ETHPORT-5-IF_UP: Interface up
~ 2026-07-10T10:59:59Z - %ETHPORT-5-IF_UP - Interface up
// FortiGate, Palo Alto, Check Point.
<189>date=2026-07-10 time=10:59:59 devname="FG100" devid="FG100E" logid="0000000013" type="traffic" subtype="forward" level="notice" vd="root" srcip=10.1.100.11 action="accept" msg="a b"
~ 2026-07-10T07:59:59Z FG100 - - date=2026-07-10 time=10:59:59 devname="FG100" devid="FG100E" logid="0000000013" type="traffic" subtype="forward" level="notice" vd="root" srcip=10.1.100.11 action="accept" msg="a b"
<14>Jul 10 10:59:59 PA-220 1,2026/07/10 10:59:59,007200001056,TRAFFIC,end,1,2026/07/10 10:59:59,192.168.0.2,204.79.197.200,0.0.0.0,0.0.0.0,rule1
= 2026-07-10T07:59:59Z PA-220 - - 1,2026/07/10 10:59:59,007200001056,TRAFFIC,end,1,2026/07/10 10:59:59,192.168.0.2,204.79.197.200,0.0.0.0,0.0.0.0,rule1
<134>1 2026-07-10T07:59:59Z cp-gw CheckPoint 1930 - - [action:"Drop"; flags:"400644"]
= 2026-07-10T07:59:59Z cp-gw CheckPoint 1930 [action:"Drop"; flags:"400644"]
// Juniper, in both forms.
<29>Jul 10 10:59:59 srx mgd[3046]: UI_LOGIN_EVENT: User alice login
= 2026-07-10T07:59:59Z srx mgd 3046 UI_LOGIN_EVENT: User alice login
// Mikrotik, Ubiquiti, pfSense, Synology, QNAP.
<30>system,info,account user admin logged in from 10.0.0.2 via ssh
= - - - - system,info,account user admin logged in from 10.0.0.2 via ssh
<30>Jul 10 10:59:59 MikroTik firewall,info forward: in:ether1 out:bridge
= 2026-07-10T07:59:59Z MikroTik - - firewall,info forward: in:ether1 out:bridge
<30>Jul 10 10:59:59 U7PG2,788a20aabbcc,v4.3.20 hostapd: ath0: STA
~ 2026-07-10T07:59:59Z U7PG2,788a20aabbcc,v4.3.20 hostapd - ath0: STA
<134>Jul 10 10:59:59 filterlog[88]: 4,,,1000000103,em0,match,block,in,4,0x0,,64,0,0,DF,6,tcp,60,10.0.0.1,10.0.0.2,40000,22,0,S,1,,64240,,mss
= 2026-07-10T07:59:59Z - filterlog 88 4,,,1000000103,em0,match,block,in,4,0x0,,64,0,0,DF,6,tcp,60,10.0.0.1,10.0.0.2,40000,22,0,S,1,,64240,,mss
<14>Jul 10 10:59:59 nas Connection: User [admin] logged in
= 2026-07-10T07:59:59Z nas Connection - User [admin] logged in
// Event formats on top of syslog.
<13>Jul 10 10:59:59 host CEF:0|Security|threatmanager|1.0|100|worm successfully stopped|10|src=10.0.0.1 dst=2.1.2.2 spt=1232
= 2026-07-10T07:59:59Z host - - CEF:0|Security|threatmanager|1.0|100|worm successfully stopped|10|src=10.0.0.1 dst=2.1.2.2 spt=1232
<13>LEEF:1.0|Microsoft|MSExchange|4.0 SP1|15345|src=192.0.2.0\tdst=172.50.123.1\tsev=5
= - - - - LEEF:1.0|Microsoft|MSExchange|4.0 SP1|15345|src=192.0.2.0\tdst=172.50.123.1\tsev=5
<13>1 2026-07-10T07:59:59Z host app - - - @cee: {"a":1}
= 2026-07-10T07:59:59Z host app - @cee: {"a":1}
// VMware ESXi, HAProxy, nginx, Kubernetes' and Docker's syslog drivers, Heroku, Snare.
<14>2026-07-10T07:59:59.123Z esx1.example Hostd: info hostd[2099] [Originator@6876 sub=Vimsvc] x
= 2026-07-10T07:59:59.123Z esx1.example Hostd - info hostd[2099] [Originator@6876 sub=Vimsvc] x
<134>Jul 10 10:59:59 haproxy[674]: 10.0.0.1:1234 [10/Jul/2026:10:59:59.000] http-in static/srv1 10/0/30/69/109 200 2750 "GET / HTTP/1.1"
= 2026-07-10T07:59:59Z - haproxy 674 10.0.0.1:1234 [10/Jul/2026:10:59:59.000] http-in static/srv1 10/0/30/69/109 200 2750 "GET / HTTP/1.1"
<190>Jul 10 10:59:59 web1 nginx: 10.0.0.1 - - "GET / HTTP/1.1" 200 612
= 2026-07-10T07:59:59Z web1 nginx - 10.0.0.1 - - "GET / HTTP/1.1" 200 612
<30>2026-07-10T10:59:59+03:00 node1 9b2c1d[1234]: container says
= 2026-07-10T10:59:59+03:00 node1 9b2c1d 1234 container says
<40>1 2026-07-10T07:59:59+00:00 host heroku router - - at=info method=GET path="/"
= 2026-07-10T07:59:59+00:00 host heroku router at=info method=GET path="/"
<13>Jul 10 10:59:59 WIN1 MSWinEventLog\t1\tSecurity\t42
= 2026-07-10T07:59:59Z WIN1 - - MSWinEventLog\t1\tSecurity\t42
// systemd-journald's forwarding, rsyslog's and syslog-ng's own.
<30>Jul 10 10:59:59 dbus-daemon[700]: [system] Activating service
= 2026-07-10T07:59:59Z - dbus-daemon 700 [system] Activating service
<46>Jul 10 10:59:59 host rsyslogd:  [origin software="rsyslogd" swVersion="8.2302.0"] start
= 2026-07-10T07:59:59Z host rsyslogd -  [origin software="rsyslogd" swVersion="8.2302.0"] start
<38>2026-07-10T10:59:59 localhost prg00000[1234]: seq: 0000000000, thread: 0000
= 2026-07-10T07:59:59Z localhost prg00000 1234 seq: 0000000000, thread: 0000
<5>Jul 10 10:59:59 host kernel: [   12.345678] audit: type=1400
= 2026-07-10T07:59:59Z host kernel - [   12.345678] audit: type=1400
<86>Jul 10 10:59:59 host sshd[4242]: Accepted publickey for root from 10.0.0.1 port 50000 ssh2: ED25519 SHA256:abc
= 2026-07-10T07:59:59Z host sshd 4242 Accepted publickey for root from 10.0.0.1 port 50000 ssh2: ED25519 SHA256:abc
`;

function samplesOf(table: string): Sample[] {
  const lines = table
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('//'));
  return lines.flatMap((line, n) => {
    const [, kind, ...values] = /^([=~]) (\S+) (\S+) (\S+) (\S+) (.*)$/.exec(line) ?? [];
    if (kind === undefined) return [];
    const names = ['_time', 'host', 'appname', 'procid', 'message'];
    const fields = names.flatMap((name, at) => (values[at] === '-' ? [] : [[name, values[at]]]));
    return [(kind === '=' ? common : rare)(lines[n - 1]!, Object.fromEntries(fields))];
  });
}

export const vendors: Sample[] = [
  ...samplesOf(TABLE),
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
  common(
    '<43>1 2026-07-10T10:59:59+03:00 host syslog-ng 1234 - [meta sequenceId="1"] syslog-ng starting up; version=\'3.38.1\'',
    {
      _time: '2026-07-10T10:59:59+03:00',
      host: 'host',
      appname: 'syslog-ng',
      procid: '1234',
      structured_data: { meta: { sequenceId: '1' } },
      message: "syslog-ng starting up; version='3.38.1'",
    },
  ),
];
