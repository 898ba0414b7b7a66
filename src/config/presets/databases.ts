/** Databases. */

export const databases: Readonly<Record<string, string>> = {
  // The line prefix of Debian (%m [%p] %q%u@%d ), and that of the source (%m [%p] ).
  postgresql: String.raw`
format: regex
regex: '(?s)^(?<_time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? [A-Za-z0-9+:-]+) \[(?<pid>\d+)(?:-\d+)?\] (?:(?<user>[^@\s]+)@(?<database>\S+) )?(?<level>[A-Z]+\d?): +(?<message>.*)$'
types: {pid: int}
multiline: {start: '^\d{4}-\d\d-\d\d '}
`,
};
