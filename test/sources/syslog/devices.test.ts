/**
 * Messages of devices beside the examples of the table: others of each kind, each with its time, host and program. Symptom: they had the time of the receipt,
 * no host, or a number as program. Received on 2026-07-10 at 08:00 UTC in Athens.
 */
import { expect, test } from 'vitest';
import { RECEIVED_AT } from './receipt.ts';
import { createRig, eventsOf } from './rig.ts';

const rig = createRig();

// Each message, and below it time, host and program; `-` for an absent one, `!` before a time that is not taken.
const TABLE = String.raw`
<189>29: 000031: Jul 10 10:59:59.123: %SYS-5-CONFIG_I: x
= 2026-07-10T07:59:59.123Z - %SYS-5-CONFIG_I
<189>29: R1: Jul 10 10:59:59.123: %SYS-5-CONFIG_I: x
= 2026-07-10T07:59:59.123Z R1 %SYS-5-CONFIG_I
<189>29: 10.0.0.1: 000031: .Jul 10 10:59:59.123 EEST: %SYS-5-CONFIG_I: x
= 2026-07-10T07:59:59.123Z 10.0.0.1 %SYS-5-CONFIG_I
<189>29: 2001:db8::1: *Jul 10 10:59:59.123: %SYS-5-CONFIG_I: x
= 2026-07-10T07:59:59.123Z 2001:db8::1 %SYS-5-CONFIG_I
<189>29: 1w2d: %SYS-5-CONFIG_I: x
= - - %SYS-5-CONFIG_I
<189>R1: %SYS-5-CONFIG_I: x
= - R1 %SYS-5-CONFIG_I
<189>000123: R1: *Jul 10 10:59:59: %SYS-5-CONFIG_I: x
= 2026-07-10T07:59:59Z R1 %SYS-5-CONFIG_I
<166>:Jul 10 10:59:59: %ASA-6-302013: x
= 2026-07-10T07:59:59Z - %ASA-6-302013
<166>:Jul 10 2026 10:59:59 UTC: %ASA-6-302013: x
= 2026-07-10T10:59:59Z - %ASA-6-302013
<166>Jul 10 2026 10:59:59: %ASA-6-302013: x
= 2026-07-10T07:59:59Z - %ASA-6-302013
<166>Jul 10 2026 10:59:59  : %FTD-6-302013: x
= 2026-07-10T07:59:59Z - %FTD-6-302013
<166>2026-07-10T07:59:59Z: %ASA-6-302013: x
= 2026-07-10T07:59:59Z - %ASA-6-302013
<166>2026-07-10T07:59:59Z fw1 : %FTD-6-302013: x
= 2026-07-10T07:59:59Z fw1 %FTD-6-302013
<189>2026 Jul 10 10:59:59 sw1 %ETH-5-X: y
= 2026-07-10T07:59:59Z sw1 %ETH-5-X
<189>: 2026 Jul 10 10:59:59.123 EEST: %L2FM-4-X: y
= 2026-07-10T07:59:59.123Z - %L2FM-4-X
<189>Jul 10 10:59:59 nexus : 2026 Jul 10 07:59:59 UTC: %ETHPORT-5-IF_UP: Interface up
= 2026-07-10T07:59:59Z nexus -
<166>RP/1/RP0/CPU1:Jul 10 10:59:59 EEST: ifmgr[1]: x
= 2026-07-10T07:59:59Z - ifmgr
<134>1 1783670399.4 MX118 flows src=1
= 2026-07-10T07:59:59.4Z MX118 -
<189>date=2026-07-10 time=10:59:59 devname="FG" eventtime=1783670399 logid="1" type="x"
= 2026-07-10T07:59:59Z FG -
<189>date=2026-07-10 time=03:59:59 devname=FG devid=F eventtime=1783670399400250000 logid="1" type="x"
= 2026-07-10T07:59:59.400250000Z FG -
<189>date=2026-07-10,time=10:59:59,device_id=FE,log_id=1
= 2026-07-10T07:59:59Z - -
<30>device="SFW" date=2026-07-10 time=09:59:59 timezone="CEST" device_name="XG210" device_id=S1
= 2026-07-10T07:59:59Z - -
<30>device_name="SFW" timestamp="2026-07-10T10:59:59+0300" device_model="XGS"
= 2026-07-10T07:59:59Z - -
<134>id=firewall time="2026-07-10 09:59:59" fw="SN310" tz=+0200 startime="2026-07-10 09:59:58" pri=5
= 2026-07-10T07:59:59Z SN310 -
<134>time="2026-07-10 10:59:59" devname="x" y=1
= 2026-07-10T07:59:59Z x -
<140>Jul 10 10:59:59 FireboxName 70A10XXXX (2026-07-10T07:59:59) firewall: msg_id="3000-0148" Deny
= 2026-07-10T07:59:59Z FireboxName -
<134>Jul 10 10:59:59 bigip1 info logger: [ssl_acc] x
= 2026-07-10T07:59:59Z bigip1 logger
<134>Jul 10 10:59:59 bigip1 notice mcpd[1]: x
= 2026-07-10T07:59:59Z bigip1 mcpd
<134>Jul 10 10:59:59 notice mcpd[1]: x
= 2026-07-10T07:59:59Z - mcpd
<134>Jul 10 10:59:59 host ERROR something failed
= 2026-07-10T07:59:59Z host -
<134>Jul 10 10:59:59 ERROR something failed
= 2026-07-10T07:59:59Z - -
<182>2026-07-10T07:59:59.123Z esx1 In(14) Hostd[2099]: x
= 2026-07-10T07:59:59.123Z esx1 Hostd
<30>Jul 10 10:59:59 ("U7PG2,788a20aabbcc,v4.3.20.11298") hostapd: ath0
= 2026-07-10T07:59:59Z U7PG2,788a20aabbcc,v4.3.20.11298 hostapd
<30>Jul 10 10:59:59 U7PG2,788a20aabbcc,v4.3.20.11298: hostapd: ath0
= 2026-07-10T07:59:59Z U7PG2,788a20aabbcc,v4.3.20.11298 hostapd
<134> 10/07/2026:07:59:59 GMT ns01 0-PPE-0 : x
= 2026-07-10T07:59:59Z ns01 -
<134> 07/10/2026:10:59:59 ns01 0-PPE-0 : x
= 2026-07-10T07:59:59Z ns01 -
<134> 07/09/2024:10:59:59 GMT ns01 0-PPE-0 : x
= !07/09/2024:10:59:59_GMT ns01 -
<141>Jul 10 10:59:59 2026 aruba cli[3456]: x
= 2026-07-10T07:59:59Z aruba cli
<187>Jul 10 10:59:59:123 2026 H3C %%10IFNET/3/LINK_UPDOWN: y
= 2026-07-10T07:59:59.123Z H3C %%10IFNET/3/LINK_UPDOWN
<188>Jul 10 2026 10:59:59+03:00 HUAWEI %%01IFNET/4/LINK_STATE(l)[0]:The line
= 2026-07-10T07:59:59Z HUAWEI %%01IFNET/4/LINK_STATE(l)
<29>Jul 10 10:59:59  srx mgd[3046]: x
= 2026-07-10T07:59:59Z srx mgd
<14> Jul 10 10:59:59 10.0.0.1 00077 ports: port 1
= 2026-07-10T07:59:59Z 10.0.0.1 -
<111>1 2026-07-10T07:59:59Z host LEEF:2.0|V|P|1|x|a=b
= 2026-07-10T07:59:59Z host -
<111>1 2026-07-10T07:59:59Z host app some text
= 2026-07-10T07:59:59Z host -
<166>1 2026-07-10 07:59:59Z host app 1 m - text
= 2026-07-10T07:59:59Z host app
<14>1 2026-07-10T10:59:59.886 host app - - - text
= 2026-07-10T07:59:59.886Z host app
<38>Jul 10 10:59:59 Message forwarded from aix1: sshd[1234]: x
= 2026-07-10T07:59:59Z aix1 sshd
<13>Jul 10 10:59:59 [10.0.0.1] cli: x
= 2026-07-10T07:59:59Z 10.0.0.1 cli
<13>Jul 10 10:59:59 [main] INFO x
= 2026-07-10T07:59:59Z - -
<13>10 Jul 2026 10:59:59 gw app: x
= 2026-07-10T07:59:59Z gw app
<13>Fri, 10 Jul 2026 10:59:59 +0300 gw app: x
= 2026-07-10T07:59:59Z gw app
<13>2026/07/10 10:59:59 gw app: x
= 2026-07-10T07:59:59Z gw app
<181>Jul 10 10:59:59 ise01 CISE_Passed_Authentications 0000000001 1 0 2026-07-10 10:59:59.123 +03:00 1
= 2026-07-10T07:59:59Z ise01 -
<134>wlc1: *emWeb: Jul 10 10:59:59.123: #AAA-5-X: y
= 2026-07-10T07:59:59.123Z wlc1 #AAA-5-X
<134>*emWeb: Jul 10 10:59:59.123: #AAA-5-X: y
= 2026-07-10T07:59:59.123Z - #AAA-5-X
<30>2026-07-10T10:59:59.123+0300 MikroTik system,info logged
= 2026-07-10T07:59:59.123Z MikroTik -
<189>8103: ucm1: Jul 10 2026 01:54:17 AM.421 UTC :  %UC_X-3-y: z
= 2026-07-10T01:54:17.421Z ucm1 %UC_X-3-y
Jul 10 10:59:59 2026 host1 tunneld[1234]: x
= 2026-07-10T07:59:59Z host1 tunneld
<133>Jul 10 10:59:59 [node-1: kern_audit: audit:info]: x
= 2026-07-10T07:59:59Z node-1 -
<28>Jul 10 10:59:59.123 EEST srx x[1]: y
= 2026-07-10T07:59:59.123Z srx x
<14>2026-07-10T10:59:59.123456+03:00 esx1.example vmkernel: cpu
= 2026-07-10T10:59:59.123456+03:00 esx1.example vmkernel
<189>Jul 10 10:59:59 Europe/Athens gw app: x
= 2026-07-10T07:59:59Z gw app
<6>Jul 10 10:59:59 gw app: x
= 2026-07-10T07:59:59Z gw app
<134>Jul 10 10:59:59 10.1.1.1 1783670399.123 MX events x
= 2026-07-10T07:59:59Z 10.1.1.1 -
<189>logver=604021828 timestamp=1783670399 tz="UTC+3:00" devname="FGVM" devid="FG" vd="root" date=2026-07-10 time=10:59:59
= 2026-07-10T07:59:59Z FGVM -
<22>Jul 10 10:59:59 esa MailLogs: Info: x
= 2026-07-10T07:59:59Z esa MailLogs
<190>Jul 10 10:59:59 apic1 %LOG_LOCAL7-6-SYSTEM_MSG [E42][x] y
= 2026-07-10T07:59:59Z apic1 -
<189>SW1 : 2026 Jul 10 10:59:59 EEST: %L2-5-X: y
= 2026-07-10T07:59:59Z SW1 %L2-5-X
<189>R1 RP/0/RSP0/CPU0:Jul 10 10:59:59.123 EEST: bgp[1]: %ROUTING x
= 2026-07-10T07:59:59.123Z R1 bgp
<30>Jul 10 10:59:59 fcecda001122,UAP-AC-5.43: hostapd[12]: x
= 2026-07-10T07:59:59Z - hostapd
<28>Jul 10 10:59:59 USW-Flex fcecda001122,USW-Flex-5.43.36: switch: TRAPMGR: Link Up
= 2026-07-10T07:59:59Z USW-Flex switch
<143>2026-07-10 10:59:59,123 10.0.0.3 Guest Access 1 0 Common.Username=x
= 2026-07-10T07:59:59.123Z 10.0.0.3 -
<86>Jul 10 10:59:59 EEST 2026 host app[1]: x
= 2026-07-10T07:59:59Z host app
<86>2026-07-10T10:59:59.123 +0300 host app[1]: x
= 2026-07-10T07:59:59.123Z host app
<187>: Jul 10 10:59:59.123 EEST: %UCSM-3-X: y
= 2026-07-10T07:59:59.123Z - %UCSM-3-X
`;

const lines = TABLE.trim().split('\n');
const cases = lines.flatMap((line, n) =>
  line.startsWith('= ') ? [[lines[n - 1]!, ...line.slice(2).split(' ')] as const] : [],
);

test.each(cases)('%s', async (message, time, host, appname) => {
  const messages = [Buffer.from(message)];
  const taken = await rig.take(messages, 'framed');
  expect(taken).toEqual(eventsOf(messages, 'framed'));
  const event = JSON.parse(taken[0]!) as Record<string, unknown>;
  const isRefused = time.startsWith('!');
  expect(event['_time']).toBe(isRefused || time === '-' ? RECEIVED_AT : time);
  expect(event['time_error']).toBe(isRefused ? time.slice(1).replaceAll('_', ' ') : undefined);
  expect([event['host'] ?? '-', event['appname'] ?? '-', event['parse_error']]).toEqual([host, appname, undefined]);
});
