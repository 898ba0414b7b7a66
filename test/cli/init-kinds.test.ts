/** What `init` takes a file for, by its lines: `recognise` on files of one kind, and on those that look like another. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { lookInto, openerOf } from '../../src/cli/init/look-into.ts';
import { recognise } from '../../src/cli/init/recognise.ts';
import { Trials } from '../../src/cli/init/trials.ts';
import { makeTree } from '../support/temp-tree.ts';

const trials = new Trials();
afterAll(() => trials.close());

async function choicesFor(content: string | Buffer): Promise<string[]> {
  const file = join(makeTree({ 'a.log': '' }), 'a.log');
  writeFileSync(file, content);
  const look = lookInto(file, openerOf([file]));
  if (look.kind !== 'log') return [look.reason];
  return (await recognise(look, trials)).choices
    .map(({ entry }) => entry)
    .filter((entry) => !entry.startsWith('time: {timezone'));
}

const lines = (...all: string[]): string => all.map((line) => `${line}\n`).join('');
const access = Array.from(
  { length: 8 },
  (_, n) => `10.0.0.${n} - - [22/Nov/2025:16:09:49 +0000] "GET /${n} HTTP/1.1" 200 12 "-" "curl/8"`,
);

const KINDS: [what: string, content: string | Buffer, choices: string[]][] = [
  // Symptom: 20 requests were lines of one "Booting worker" event of apache-error. Cause: any word was a level, and the share was that of events.
  ['Gunicorn with access lines', lines('[2025-11-22 16:08:49 +0000] [7] [INFO] Booting worker with pid: 7', ...access), ['preset: gunicorn']],
  ['access lines behind one of Apache', lines('[Sat Nov 22 16:08:49.123000 2025] [core:error] [pid 8] x', ...access), ['preset: nginx-access']],
  ['spdlog', lines('[2014-10-31 23:46:59.678] [my_loggername] [info] Some message', '[2014-10-31 23:47:00.001] [console] [error] no'), ['format: auto']],
  ['ZNC', lines('[12:00:01] [girst] hello', '[12:00:02] [dan] hi'), ['format: auto']],
  ['Apache errors with traces', lines('[Sat Nov 22 16:08:49.123000 2025] [wsgi:error] [pid 8] Traceback (most recent call last):', '  File "a"', '[Sat Nov 22 16:08:50.123000 2025] [core:notice] [pid 8] AH00094: x'), ['preset: apache-error']],
  // Symptom: virtual hosts were one source with plain access logs, each field one place on.
  ['virtual hosts', lines(...access.map((line) => `www.example.com:443 ${line}`)), ['preset: apache-vhost']],
  // Symptom: JBoss's logger was the thread; OTel's Python was log4j.
  ['JBoss', lines('2024-01-10 10:00:00,123 INFO  [org.jboss.as] (MSC service thread 1-2) WFLYSRV0049: starting', '2024-01-10 10:00:01,123 INFO  [org.jboss.as] (main) x'), ['preset: wildfly']],
  ["OTel's Python", lines('2024-01-10 10:00:00,123 INFO [app] [file.py:47] [trace_id=0 span_id=0] - hello', '2024-01-10 10:00:01,123 ERROR [app] [file.py:48] [trace_id=0 span_id=0] - no'), ['preset: python']],
  ['CEF', lines('CEF:0|Elastic|Vaporware|1.0|18|Web request|low|eventId=3457 src=1.128.3.4 rt=1577808000000', 'CEF:0|Elastic|Vaporware|1.0|18|Web request|low|eventId=3458 src=1.128.3.4'), ['format: auto']],
  // Symptom: tracebacks came in pieces. Cause: a preset had to bring a time.
  ["Python's default", lines('INFO:root:hello', 'ERROR:root:failed', 'Traceback (most recent call last):', '  File "a", line 3, in f', "KeyError: 'x'", 'WARNING:app.db:low'), ['preset: python']],
  ['a trace without a time', lines('starting', 'Exception in thread "main" java.lang.X: no', '\tat a.B', 'Caused by: java.io.Y: no', '\tat a.C', 'going on'), [String.raw`format: auto`, String.raw`multiline: {continue: '^(?:\s|Caused by: )'}`]],
  ['a traceback of a program without a logger', lines('hello', 'Traceback (most recent call last):', '  File "a", line 3', 'requests.exceptions.ReadTimeout: no', 'bye', 'Traceback (most recent call last):', '  File "a"', "KeyError: 'x'", 'bye'), ['format: auto', String.raw`multiline: {continue: '^(?:\s|[A-Za-z_][\w.]*(?:Error|Exception|Warning|Interrupt|Exit)(?:: |$))'}`]],
  ['CSV', lines('LineId,Date,Level,Content', '1,Nov 22,INFO,"a, b"', '2,Nov 22,WARN,c'), ['format: csv']],
  ['CSV with tabs and a time', lines('id\tlog_time\tvalue', '1\t2025-11-22 16:08:49\t7', '2\t2025-11-22 16:08:50\t8', '3\t2025-11-22 16:08:51\t9'), ['format: csv', 'csv: {delimiter: tab}', "time: {field: 'log_time'}"]],
  ['CSV with semicolons', lines('a;b;c', '1;2;3', '4;5;6'), ['format: csv', "csv: {delimiter: ';'}"]],
  ['words with commas', lines('yes, no, maybe', 'well, no'), ['format: auto']],
  ['text in UTF-16 with a mark', Buffer.from(`\uFEFF${lines('2025-11-22 16:08:49.12 spid7s      Starting up database', '2025-11-22 16:08:50.12 Server      x')}`, 'utf16le'), ['format: auto']],
  ['Java in UTF-16', Buffer.from(`\uFEFF${lines('2025-11-22 16:08:49,123 [main] INFO  com.example.App - up', '2025-11-22 16:08:50,123 [main] WARN  com.example.App - no')}`, 'utf16le'), ['preset: log4j']],
  // Symptom: auditd was logfmt, with the time of the read.
  ['auditd', lines("type=CRYPTO_SESSION msg=audit(1481077041.515:406): pid=1298 uid=0 msg='op=start direction=from-server'", 'type=CWD msg=audit(1481077042.515:407):  cwd="/"'), ['preset: auditd']],
  ['IIS', lines('#Software: Microsoft Internet Information Services 10.0', '#Version: 1.0', '#Fields: date time cs-uri-stem sc-status', '2025-11-22 08:09:10 / 200', '2025-11-22 08:09:11 /a 404'), ['preset: iis']],
  ['CloudFront', lines('#Version: 1.0', '#Fields: date time x-edge-location sc-bytes', '2025-11-22\t08:09:10\tFRA2\t200', '2025-11-22\t08:09:11\tFRA2\t7'), ['format: w3c']],
  ['Zeek', lines('#separator \\x09', '#fields\tts\tuid\tid.orig_h', '#types\ttime\tstring\taddr', '1300475167.096535\tCXWv6p3\t10.0.0.7'), ['format: w3c']],
  ['MongoDB', lines('{"t":{"$date":"2020-05-18T20:18:13.533+00:00"},"s":"I","c":"NETWORK","id":22943,"ctx":"listener","msg":"x"}'), ['preset: mongodb']],
  ['a slow query log', lines('# Time: 2019-03-24T14:01:47.811234Z', '# User@Host: root[root] @ localhost []  Id:    16', '# Query_time: 2.475469  Lock_time: 0.000287 Rows_sent: 10  Rows_examined: 3145718', 'SET timestamp=1553436107;', 'select a = 1;'), ['preset: mysql-slow']],
]; // prettier-ignore

test.each(KINDS)('init recognises %s', async (_what, content, choices) => {
  expect(await choicesFor(content)).toEqual(choices);
});
