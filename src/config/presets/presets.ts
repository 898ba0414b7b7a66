/** The presets: keys of a source as YAML, for programs whose logs are known. */

const SYSLOG = String.raw`
formats:
  - regex: '(?s)^(?:<(?<pri>\d{1,3})>)?1 (?<_time>\S+) (?<host>\S+) (?<appname>\S+) (?<procid>\S+) (?<msgid>\S+) (?<structured_data>-|(?:\[(?:[^\]"]|"(?:[^"\\]|\\.)*")*\])+)(?: (?<message>.*))?$'
  - regex: '(?s)^(?:<(?<pri>\d{1,3})>)?(?<_time>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S+) (?<host>\S+) (?<appname>[^\s:\[]+)(?:\[(?<procid>[^\]]*)\]:?|:)(?: (?<message>.*))?$'
  - text
types: {pri: int, host: text, appname: text, procid: text, msgid: text, structured_data: text}
`;

const JAVA = String.raw`
formats:
  - regex: '(?s)^(?<_time>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?) +(?<level>[A-Z]+) +(?<pid>\d+) --- (?:\[[^\]]*\] )?\[ *(?<thread>[^\]]*)\] (?<logger>\S+) +: (?<message>.*)$'
  - regex: '(?s)^(?<_time>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?) +\[(?<thread>[^\]]*)\] +(?<level>[A-Z]+) +(?<logger>\S+) +-+ (?<message>.*)$'
  - regex: '(?s)^(?<_time>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?) +\[?(?<level>TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\]? +(?:\[(?<thread>[^\]]*)\] +)?(?:(?<logger>[\w.$]+)(?::\d+)? +-+ )?(?<message>.*)$'
  - text
types: {pid: int}
multiline: {start: '^\d{4}-\d\d-\d\d'}
`;

export const PRESETS: Readonly<Record<string, string>> = {
  // Web servers.
  'nginx-access': 'format: combined',
  'apache-access': 'format: combined',
  'nginx-error': String.raw`
format: regex
regex: '(?s)^(?<_time>\d{4}/\d\d/\d\d \d\d:\d\d:\d\d) \[(?<level>\w+)\] (?<pid>\d+)#(?<tid>\d+): (?:\*(?<connection>\d+) )?(?<message>.*?)(?:, client: (?<client>[^,]+), server: (?<server>[^,]*)(?:, request: "(?<request>(?:[^"\\]|\\.)*)")?(?:, upstream: "(?<upstream>[^"]*)")?(?:, host: "(?<http_host>[^"]*)")?(?:, referrer: "(?<referer>[^"]*)")?)?$'
types: {pid: int, tid: int, connection: int}
multiline: {start: '^\d{4}/\d\d/\d\d '}
`,
  'apache-error': String.raw`
format: regex
regex: '(?s)^\[(?<_time>[^\]]+)\] \[(?:(?<module>[^:\]]*):)?(?<level>\w+)\] (?:\[pid (?<pid>\d+)(?::tid (?<tid>\d+))?\] )?(?:\[client (?<client>[^\]]+)\] )?(?:(?<code>AH\d+): )?(?<message>.*)$'
types: {pid: int, tid: int, module: text}
multiline: {start: '^\['}
`,
  // Databases.
  // The line prefix of Debian (%m [%p] %q%u@%d ), and that of the source (%m [%p] ).
  postgresql: String.raw`
format: regex
regex: '(?s)^(?<_time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? [A-Za-z0-9+:-]+) \[(?<pid>\d+)(?:-\d+)?\] (?:(?<user>[^@\s]+)@(?<database>\S+) )?(?<level>[A-Z]+\d?): +(?<message>.*)$'
types: {pid: int}
multiline: {start: '^\d{4}-\d\d-\d\d '}
`,
  // What a Linux system writes.
  'syslog-file': SYSLOG,
  auth: SYSLOG,
  dpkg: String.raw`
formats:
  - regex: '^(?<_time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?<action>status) (?<status>\S+) (?<package>[^\s:]+)(?::(?<arch>\S+))? (?<version>\S+)$'
  - regex: '^(?<_time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?<action>install|upgrade|configure|trigproc|remove|purge|disappear) (?<package>[^\s:]+)(?::(?<arch>\S+))? (?<version>\S+) (?<new_version>\S+)$'
  - regex: '^(?<_time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?<action>\S+) (?<message>.*)$'
`,
  // Logging libraries.
  log4j: JAVA,
  logback: JAVA,
  python: String.raw`
formats:
  - regex: '(?s)^(?<_time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)?)(?: - |:| )(?<logger>[\w.]+)(?: - |:)(?<level>DEBUG|INFO|WARNING|ERROR|CRITICAL)(?: - |:) ?(?<message>.*)$'
  - regex: '(?s)^(?<_time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)?)(?: - | )\[?(?<level>DEBUG|INFO|WARNING|ERROR|CRITICAL)\]?(?: - |: ?| )(?:(?<logger>[\w.]+)(?: - |: ))?(?<message>.*)$'
  - regex: '(?s)^(?<level>DEBUG|INFO|WARNING|ERROR|CRITICAL):(?<logger>[\w.]+):(?<message>.*)$'
  - text
multiline: {start: '^(?:\d{4}-\d\d-\d\d |(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):)'}
`,
  klog: String.raw`
format: regex
regex: '(?s)^(?<_time>(?<level>[IWEF])(?:\d{4})?\d{4} \d\d:\d\d:\d\d(?:\.\d+)?) +(?<thread>\d+) (?<source>[^\]:]+):(?<line>\d+)\] ?(?<message>.*)$'
types: {thread: int, line: int}
multiline: {start: '^[IWEF]\d{4}'}
`,
  logfmt: 'format: logfmt',
  pino: 'format: json',
  bunyan: 'format: json',
  zap: 'format: json',
  // Container runtimes: what their paths tell, and JSON in messages.
  // /var/log/pods/NAMESPACE_POD_UID/CONTAINER/N.log, and the links of /var/log/containers.
  kubernetes: String.raw`
format: cri
parse_json: true
path_fields:
  - '/(?<namespace>[^/_]+)_(?<pod>[^/_]+)_(?<uid>[^/_]+)/(?<container>[^/]+)/[^/]+$'
  - '/(?<pod>[^/_]+)_(?<namespace>[^/_]+)_(?<container>[^/]+)-(?<container_id>[0-9a-f]{64})\.log[^/]*$'
`,
  docker: String.raw`
format: docker
parse_json: true
path_fields: '/(?<container_id>[0-9a-f]{64})(?:-json\.log|/)'
`,
};
