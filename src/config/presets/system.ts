/** What a Linux system writes. */

const SYSLOG = String.raw`
formats:
  - regex: '(?s)^(?:<(?<pri>\d{1,3})>)?1 (?<_time>\S+) (?<host>\S+) (?<appname>\S+) (?<procid>\S+) (?<msgid>\S+) (?<structured_data>-|(?:\[(?:[^\]"]|"(?:[^"\\]|\\.)*")*\])+)(?: (?<message>.*))?$'
  - regex: '(?s)^(?:<(?<pri>\d{1,3})>)?(?<_time>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S+) (?<host>\S+) (?<appname>[^\s:\[]+)(?:\[(?<procid>[^\]]*)\]:?|:)(?: (?<message>.*))?$'
  - text
types: {pri: int, host: text, appname: text, procid: text, msgid: text, structured_data: text}
`;

export const system: Readonly<Record<string, string>> = {
  'syslog-file': SYSLOG,
  auth: SYSLOG,
  dpkg: String.raw`
formats:
  - regex: '^(?<_time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?<action>status) (?<status>\S+) (?<package>[^\s:]+)(?::(?<arch>\S+))? (?<version>\S+)$'
  - regex: '^(?<_time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?<action>install|upgrade|configure|trigproc|remove|purge|disappear) (?<package>[^\s:]+)(?::(?<arch>\S+))? (?<version>\S+) (?<new_version>\S+)$'
  - regex: '^(?<_time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?<action>\S+) (?<message>.*)$'
`,
};
