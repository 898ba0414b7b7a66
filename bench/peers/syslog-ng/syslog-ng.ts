/**
 * The same work by syslog-ng's http() destination (Debian: syslog-ng-core, syslog-ng-mod-http), configured as well as we
 * know how: no parsing where none is needed, large batches, several workers, no disk buffer, large windows and fetches.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ADDED_FIELD } from '../../checksum.ts';

const PROGRAMS = ['/usr/sbin/syslog-ng', '/usr/local/sbin/syslog-ng', 'syslog-ng'];
const WORKERS = 4;
const BATCH_LINES = 5000;
const BATCH_BYTES = 1 << 20;

/**
 * - `text`: a line becomes a JSON event. `format-json` is its only way to escape every byte that JSON wants escaped.
 * - `json`: the line is parsed, so that only JSON goes through as JSON, and printed again with the field added.
 * - `json_unchecked`: the field is spliced in before the line's own text; a line that is not JSON goes through broken.
 * - `transform`: the line is parsed, left out by its level, and printed without its headers, with the field added.
 */
export type SyslogNgJob = 'text' | 'json' | 'json_unchecked' | 'transform';
/** Those that are measured beside the agent without a transform. */
export const SYSLOG_NG_JOBS: readonly SyslogNgJob[] = ['text', 'json', 'json_unchecked'];

const BODIES: Readonly<Record<SyslogNgJob, string>> = {
  text: '$(format-json _time=$R_ISODATE message=$MSG host=$HOST file=$FILE_NAME)',
  json: `$(format-json .json.* --rekey .json.* --shift-levels 2 env=${ADDED_FIELD.env})`,
  transform: '$(format-json .json.* --exclude .json.req.headers.* --rekey .json.* --shift-levels 2 env=prod)',
  json_unchecked: `{"env":"${ADDED_FIELD.env}",$(substr "$MSG" 1)`,
};

export interface SyslogNg {
  readonly program: string;
  readonly version: string;
}

/** The installed syslog-ng with its http module, or undefined. */
export function findSyslogNg(): SyslogNg | undefined {
  for (const program of PROGRAMS) {
    try {
      const said = execFileSync(program, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
      if (!/Available-Modules:.*\bhttp\b/.test(said)) continue;
      return { program, version: /^Installer-Version: (.*)$/m.exec(said)?.[1] ?? 'unknown' };
    } catch {
      // Not there: the next place.
    }
  }
  return undefined;
}

/** Writes the configuration for `job` and answers the command line that runs it. */
export function prepareSyslogNg(
  found: SyslogNg,
  folder: string,
  input: string,
  job: SyslogNgJob,
  port: number,
): string[] {
  mkdirSync(folder, { recursive: true });
  const own = (name: string) => join(folder, name);
  writeFileSync(own('syslog-ng.conf'), syslogNgConfig(input, job, `http://127.0.0.1:${port}/v1/ingest/bench`));
  const files = [
    '--cfgfile',
    own('syslog-ng.conf'),
    '--persist-file',
    own('persist'),
    '--pidfile',
    own('pid'),
    '--control',
    own('control'),
  ];
  return [found.program, '-F', '--no-caps', ...files, '--worker-threads', String(WORKERS)];
}

/** It follows the file for ever: the caller ends it once everything has arrived. */
function syslogNgConfig(input: string, job: SyslogNgJob, url: string): string {
  const parsed = job === 'json' || job === 'transform';
  return `@version: 3.38
options { stats-freq(0); use-dns(no); dns-cache(no); keep-hostname(yes); ts-format(iso); frac-digits(3); log-msg-size(1048576); };
source s_input {
  file(${JSON.stringify(input)} flags(no-parse) read-old-records(yes) follow-freq(0.1)
       log-iw-size(200000) log-fetch-limit(20000));
};
${parsed ? 'parser p_json { json-parser(prefix(".json.")); };\n' : ''}${
    job === 'transform' ? 'filter f_level { "${.json.level}" ne "20" };\n' : ''
  }destination d_sink {
  http(url(${JSON.stringify(url)}) method("POST") headers("Content-Type: application/x-ndjson")
       body('${BODIES[job]}') delimiter("\\n") body-suffix("\\n")
       batch-lines(${BATCH_LINES}) batch-bytes(${BATCH_BYTES}) batch-timeout(100) workers(${WORKERS})
       log-fifo-size(400000) persist-name("bench"));
};
log { source(s_input); ${parsed ? 'parser(p_json); ' : ''}${job === 'transform' ? 'filter(f_level); ' : ''}destination(d_sink); flags(flow-control); };
`;
}
