/** Web servers. */

export const web: Readonly<Record<string, string>> = {
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
};
