/** Logging libraries. */

const JAVA = String.raw`
formats:
  - regex: '(?s)^(?<_time>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?) +(?<level>[A-Z]+) +(?<pid>\d+) --- (?:\[[^\]]*\] )?\[ *(?<thread>[^\]]*)\] (?<logger>\S+) +: (?<message>.*)$'
  - regex: '(?s)^(?<_time>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?) +\[(?<thread>[^\]]*)\] +(?<level>[A-Z]+) +(?<logger>\S+) +-+ (?<message>.*)$'
  - regex: '(?s)^(?<_time>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?) +\[?(?<level>TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\]? +(?:\[(?<thread>[^\]]*)\] +)?(?:(?<logger>[\w.$]+)(?::\d+)? +-+ )?(?<message>.*)$'
  - text
types: {pid: int}
multiline: {start: '^\d{4}-\d\d-\d\d'}
`;

export const programs: Readonly<Record<string, string>> = {
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
};
