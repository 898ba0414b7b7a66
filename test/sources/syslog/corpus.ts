/** temporary */
export const corpus: { name: string; input: string | Buffer }[] = [
  "<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - \uFEFF'su root' failed for lonvick on /dev/pts/8",
  "<165>1 2003-08-24T05:14:15.000003-07:00 192.0.2.1 myproc 8710 - - %% It's time to make the do-nuts.",
  '<165>1 2003-10-11T22:14:15.003Z m evntslog - ID47 [exampleSDID@32473 iut="3" eventSource="Application" eventID="1011"][b c="d"] x',
  "<34>Oct 11 22:14:15 mymachine su: 'su root' failed for lonvick on /dev/pts/8",
  '<13>2026-07-10T11:00:00.123456+03:00 host app[1]: m',
  '<189>45: router1: .Jul 10 2026 07:00:00.001 UTC: %SYS-5-CONFIG_I: Configured from console by vty0 (10.0.0.1)',
  '<166>Jul 10 2026 10:00:00 asa01 : %ASA-6-302013: Built inbound TCP connection 1 for outside:1.2.3.4/80',
  '<13>hello world',
  '<38>2026-07-10T10:00:00 localhost prg00000[1234]: seq: 0000000000',
  '<38>2026-07-10 10:00:00.123 localhost prg00000[1234]: seq: 0000000000',
].map((input) => ({ name: input, input }));
