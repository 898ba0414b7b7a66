/**
 * The same work by three programs: syslog over TCP or UDP in, events as JSON lines out to the null sink over HTTP, uncompressed. Each is
 * configured as well as we know how: large batches, several connections, large windows, no disk buffer but the agent's own.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launcher } from '../agent.ts';
import { findSyslogNg } from '../peers/syslog-ng/syslog-ng.ts';

export type Transport = 'tcp' | 'udp';

export interface SyslogProgram {
  readonly name: string;
  /** Lines that the sink counts for one message. */
  readonly linesAnEvent: number;
  /** Writes the configuration and answers the command line. `folder` is of this run alone. */
  prepare(folder: string, transport: Transport, port: number, sinkPort: number): readonly string[];
}

export const RSYSLOG = fileURLToPath(new URL('../../.ci/rsyslog', import.meta.url));
/** What rsyslog writes with `omelasticsearch`, the only HTTP module that Debian builds: a command, the event, and an empty line. */
export const BULK_LINES = 3;

/** The agent, and those of the others that are installed: rsyslog as `.ci/unpack-rsyslog` brings it, syslog-ng with its http module. */
export function findSyslogPrograms(agent: string): SyslogProgram[] {
  const found = findSyslogNg();
  return [
    tailrace(agent),
    ...(existsSync(join(RSYSLOG, 'rsyslogd')) ? [rsyslog()] : []),
    ...(found === undefined ? [] : [syslogNg(found.program, found.version)]),
  ];
}

function tailrace(program: string): SyslogProgram {
  return {
    name: 'tailrace',
    linesAnEvent: 1,
    prepare(folder, transport, port, sinkPort) {
      const file = write(
        folder,
        'tailrace.yaml',
        `data_dir: ${JSON.stringify(join(folder, 'data'))}
sources:
  net: {type: syslog, listen: ["${transport}://127.0.0.1:${port}"], receive_buffer: 64MiB}
sinks:
  store: {type: ingest, url: "http://127.0.0.1:${sinkPort}", token: bench, org_id: bench, dataset: bench, compression: none}
telemetry: {listen: "127.0.0.1:0", log_level: warn}
`,
      );
      return [...launcher(), program, 'run', '--config', file];
    },
  };
}

/** Writes its configuration, which ships what `input` gives the ruleset `ship` to the sink; answers the command line. */
export function rsyslogCommand(folder: string, sinkPort: number, input: string): readonly string[] {
  const members = [
    ['_time', 'timereported', 'dateFormat="rfc3339" '],
    ['message', 'msg', ''],
    ['host', 'hostname', ''],
    ['appname', 'app-name', ''],
    ['procid', 'procid', ''],
    ['facility', 'syslogfacility-text', ''],
    ['severity', 'syslogseverity-text', ''],
    ['peer', 'fromhost-ip', ''],
  ].map(([out, name, more]) => ` property(outname="${out}" name="${name}" ${more}format="jsonf")`);
  const file = write(
    folder,
    'rsyslog.conf',
    `global(workDirectory="${folder}" maxMessageSize="64k")
module(load="omelasticsearch")
template(name="event" type="list" option.jsonf="on") {
${members.join('\n')}
}
ruleset(name="ship") {
 action(type="omelasticsearch" server="127.0.0.1" serverport="${sinkPort}" template="event" searchIndex="bench" searchType="" bulkmode="on" maxbytes="1m"
        queue.type="linkedList" queue.size="500000" queue.dequeueBatchSize="5000" queue.workerThreads="2" action.resumeRetryCount="-1")
}
${input}
`,
  );
  const program = [
    join(RSYSLOG, 'rsyslogd'),
    '-n',
    '-M',
    join(RSYSLOG, 'modules'),
    '-i',
    join(folder, 'pid'),
    '-f',
    file,
  ];
  return ['env', `LD_LIBRARY_PATH=${join(RSYSLOG, 'lib')}`, ...program];
}

function rsyslog(): SyslogProgram {
  return {
    name: 'rsyslog 8.2302',
    linesAnEvent: BULK_LINES,
    prepare(folder, transport, port, sinkPort) {
      const input =
        transport === 'tcp'
          ? `module(load="imtcp")\ninput(type="imtcp" port="${port}" address="127.0.0.1" ruleset="ship")`
          : `module(load="imudp" batchSize="128" threads="2")\ninput(type="imudp" port="${port}" address="127.0.0.1" ruleset="ship" rcvbufSize="64m")`;
      return rsyslogCommand(folder, sinkPort, input);
    },
  };
}

function syslogNg(program: string, version: string): SyslogProgram {
  return {
    name: `syslog-ng ${version}`,
    linesAnEvent: 1,
    prepare(folder, transport, port, sinkPort) {
      const window =
        transport === 'tcp'
          ? 'log-iw-size(200000) log-fetch-limit(20000) max-connections(16)'
          : 'so-rcvbuf(67108864) log-iw-size(200000) log-fetch-limit(20000)';
      const members =
        '_time=$ISODATE message=$MSG host=$HOST appname=$PROGRAM procid=$PID facility=$FACILITY severity=$LEVEL peer=$SOURCEIP';
      const file = write(
        folder,
        'syslog-ng.conf',
        `@version: 3.38
options { stats-freq(0); use-dns(no); dns-cache(no); keep-hostname(yes); ts-format(iso); frac-digits(3); log-msg-size(65536); };
source s_input { network(ip("127.0.0.1") port(${port}) transport("${transport}") ${window}); };
destination d_sink {
  http(url("http://127.0.0.1:${sinkPort}/v1/ingest/bench") method("POST") headers("Content-Type: application/x-ndjson")
       body('$(format-json ${members})') delimiter("\\n") body-suffix("\\n")
       batch-lines(5000) batch-bytes(1048576) batch-timeout(100) workers(4) log-fifo-size(400000) persist-name("bench"));
};
log { source(s_input); destination(d_sink); ${transport === 'tcp' ? 'flags(flow-control); ' : ''}};
`,
      );
      const own = ['--persist-file', 'persist', '--pidfile', 'pid', '--control', 'control'].map((part, n) =>
        n % 2 === 0 ? part : join(folder, part),
      );
      return [program, '-F', '--no-caps', '--cfgfile', file, ...own, '--worker-threads', '4'];
    },
  };
}

function write(folder: string, name: string, text: string): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}
