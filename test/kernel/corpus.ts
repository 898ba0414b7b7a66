/** Lines as real programs write them: the seeds of the fuzz. Made up, no machine's own data. */
import { readFileSync } from 'node:fs';

export const LOG_LINES: readonly string[] = [
  '<34>1 2026-11-21T10:15:00.003Z web-1.example.com su - ID47 [exampleSDID@32473 iut="3"] \'su root\' failed for lonvick on /dev/pts/8',
  'Nov 21 10:15:01 web-1 CRON[12345]: (root) CMD (command -v debian-sa1 > /dev/null && debian-sa1 1 1)',
  'Nov 21 10:15:02 web-1 kernel: [123456.789012] eth0: Link is Up - 1Gbps/Full - flow control rx/tx',
  '10.0.0.7 - alice [21/Nov/2026:10:15:03 +0000] "GET /search?q=caf%C3%A9 HTTP/1.1" 200 5316 "https://example.com/" "Mozilla/5.0 (X11; Linux x86_64)"',
  '10.0.0.9 - - [21/Nov/2026:10:15:03 +0000] "\\x16\\x03\\x01\\x02\\x00\\x01" 400 150 "-" "-"',
  '2026/11/21 10:15:04 [error] 29#29: *1 open() "/usr/share/nginx/html/favicon.ico" failed (2: No such file or directory), client: 10.0.0.7',
  "2026-11-21 10:15:05.123 UTC [4242] postgres@app LOG:  duration: 1234.567 ms  statement: SELECT \"id\", 'it''s' FROM \"users\" WHERE name = E'a\\tb'",
  '2026-11-21 10:15:05.200 UTC [4242] postgres@app ERROR:  invalid byte sequence for encoding "UTF8": 0xff',
  '2026-11-21 10:15:06 status installed libc6:amd64 2.36-9+deb12u9',
  '2026-11-21 10:15:06 trigproc man-db:amd64 2.11.2-2 <none>',
  'Commandline: apt-get install -y "nginx" postgresql',
  '{"level":30,"time":1795256100000,"pid":4242,"hostname":"web-1","reqId":"req-1a2b","req":{"method":"GET","url":"/api/v1/users/17","remoteAddress":"10.0.0.7"},"res":{"statusCode":200},"responseTime":12.345,"msg":"request completed"}',
  '{"level":50,"time":1795256100001,"pid":4242,"hostname":"web-1","err":{"type":"TypeError","message":"Cannot read \\"x\\" of undefined","stack":"TypeError: Cannot read\\n    at f (/srv/app.js:1:2)\\n    at g"},"msg":"failed"}',
  '{"_time":"2026-11-21T10:15:07Z","service":"billing","level":"warn","msg":"Zahlung abgelehnt: größer als 1.000 €","user":{"name":"Μαρία","tags":["α","β",null,true,false,-0.5e-3]}}',
  '{ "ts" : "2026-11-21T10:15:08Z" , "serv\\u0069ce" : "api" , "emoji" : "\\ud83d\\ude00 😀" , "empty" : { } , "list" : [ ] }',
  '{"log":"2026-11-21 plain text inside docker\\n","stream":"stdout","time":"2026-11-21T10:15:09.123456789Z"}',
  '{"@timestamp":"2026-11-21T10:15:10Z","ecs":{"version":"1.6.0"},"numbers":[0,-0,1e5,1E-5,1.5e+10,123456789012345678901234567890],"deep":[[[[{"a":[{}]}]]]]}',
  'level=info ts=2026-11-21T10:15:11Z caller=main.go:42 msg="listening on \\":8080\\"" err="<nil>"',
  'Exception in thread "main" java.lang.IllegalStateException: {"not":"json}',
  '\tat com.example.App.main(App.java:42) ~[app.jar:1.0]',
  'Traceback (most recent call last):',
  '  File "/srv/app.py", line 42, in <module>',
  '\u001b[32mINFO\u001b[39m (4242): coloured \u001b[1moutput\u001b[0m',
  '日本語のログ行: ユーザーがログインしました 👩‍💻 (id=42)',
  'Η σύνδεση με τη βάση δεδομένων έκλεισε απροσδόκητα',
  'I1121 10:15:12.000000       1 controller.go:114] "Successfully synced" resource="default/example"',
  'type=AVC msg=audit(1795256112.123:456): apparmor="DENIED" operation="open" name="/etc/shadow" pid=4242 comm="cat"',
  '[1,2,{"a":"array line"}]',
  '"a string line"',
  '{}',
  ' { } ',
  '{"a":1} trailing',
  '{"message":"own message","truncated":false,"host":"own host","file":"own file"}',
];

/** Logs that many machines have; those that cannot be read are left out. */
const SYSTEM_LOGS = [
  '/var/log/dpkg.log',
  '/var/log/apt/history.log',
  '/var/log/apt/term.log',
  '/var/log/alternatives.log',
  '/var/log/syslog',
  '/var/log/nginx/access.log',
];

/** Up to `most` lines of each of this machine's readable logs. */
export function systemLogLines(most: number): Buffer[] {
  return SYSTEM_LOGS.flatMap((path) => {
    try {
      return readFileSync(path, 'latin1')
        .split('\n', most)
        .map((line) => Buffer.from(line, 'latin1'));
    } catch {
      return [];
    }
  });
}
