/**
 * How programs write date and clock: the one table of forms. The kernel's reader (kernel/times/form-image.ts), the reader in JavaScript (own-time.ts),
 * docs/formats.md and the tests are made from it. CONTRIBUTING.md tells how a form is added.
 */

export interface TimeForm {
  /**
   * A Go layout up to the seconds. `T` also matches `t`, a leading `I` any of `IWEF`; hours may have one digit, or a space before them. All
   * forms share the reader of the parts after the seconds: fraction, AM or PM, zone, and the year where the layout has none.
   */
  readonly layout: string;
  /** A line that begins with it, and who writes it. */
  readonly example: string;
  readonly writer: string;
  /** A part that must follow, as the layout alone may match other text. */
  readonly needs?: 'fraction' | 'level' | 'year';
  /** Only after this beginning of a line. */
  readonly behind?: '# Time: ';
  /** It is a time of UTC where it names no zone. */
  readonly isUtc?: true;
}

/** The first that fits is taken: in the order of how common they are. */
export const TIME_FORMS: readonly TimeForm[] = [
  { layout: '2006-01-02T15:04:05', example: '2025-12-30T10:15:00.123Z ready', writer: 'RFC 3339, ISO 8601' },
  { layout: '2006-01-02 15:04:05', example: '2025-12-30  9:15:00 11 [Warning] x', writer: 'log4j, Python, PostgreSQL, MySQL, MariaDB' },
  { layout: '2006/01/02 15:04:05', example: '2025/12/30 10:15:00 [error] 17#17: x', writer: 'nginx, Go' },
  { layout: '2006/01/02T15:04:05', example: '2025/12/30T10:15:00 x', writer: 'the same with a T' },
  { layout: '2006-01-02\t15:04:05', example: '2025-12-30\t10:15:00\tFRA2\t200', writer: 'CloudFront (W3C)', isUtc: true },
  { layout: '2006.01.02 15:04:05', example: '2025.12.30 10:15:00.123456 [ 1 ] {} <Information> x', writer: 'ClickHouse' },
  { layout: '20060102 15:04:05', example: '20251230 10:15:00 x', writer: 'C++ programs' },
  { layout: 'Jan _2 15:04:05', example: 'Dec 30 10:15:00 web-1 sshd[812]: x', writer: 'syslog' },
  { layout: 'Jan _2 2006 15:04:05', example: 'Dec 30 2025 10:15:00 fw-1 : %ASA-6-302013: x', writer: 'Cisco' },
  { layout: '2006 Jan _2 15:04:05', example: '2025 Dec 30 10:15:00 UTC: %ETHPORT-5-IF_UP: x', writer: 'Cisco NX-OS' },
  { layout: 'Jan 2, 2006 15:04:05', example: 'Dec 30, 2025 4:15:00 PM org.apache.catalina.core.StandardServer await', writer: 'java.util.logging' },
  { layout: 'I0102 15:04:05', example: 'I1230 10:15:00.123456       1 main.go:7] x', writer: 'klog, glog' },
  { layout: 'I20060102 15:04:05', example: 'E20251230 10:15:00.123456 7 x.cc:1] x', writer: 'glog' },
  { layout: 'Mon Jan _2 15:04:05', example: '[Tue Dec 30 10:15:00.123456 2025] [core:error] x', writer: 'ctime, Apache, date', needs: 'year' },
  { layout: 'Mon Jan _2 2006 15:04:05', example: 'Tue Dec 30 2025 10:15:00 GMT+0200 (EET) x', writer: 'JavaScript' },
  { layout: 'Mon, 2 Jan 2006 15:04:05', example: 'Tue, 30 Dec 2025 10:15:00 GMT x', writer: 'HTTP, RFC 1123' },
  { layout: '2/Jan/2006:15:04:05', example: '[30/Dec/2025:10:15:00 +0100] "GET /"', writer: 'access logs' },
  { layout: '2/Jan/2006 15:04:05', example: '30/Dec/2025 10:15:00 x', writer: 'the same with a space' },
  { layout: '2-Jan-2006 15:04:05', example: '[30-Dec-2025 10:15:00 Europe/Berlin] PHP Notice:  x', writer: 'PHP, Tomcat' },
  { layout: '2-Jan-2006:15:04:05', example: '30-Dec-2025:10:15:00 x', writer: 'the same with a colon' },
  { layout: '2 Jan 2006 15:04:05', example: '1:M 30 Dec 2025 10:15:00.123 * Ready to accept connections', writer: 'Redis, Valkey' },
  { layout: '2 Jan 2006:15:04:05', example: '30 Dec 2025:10:15:00 x', writer: 'the same with a colon' },
  { layout: '2 Jan 15:04:05', example: '[2932] 30 Dec 10:15:00 # Server started', writer: 'Redis 2' },
  { layout: '06/01/02 15:04:05', example: '25/12/30 10:15:00 INFO SparkContext: x', writer: 'Spark, Hadoop', needs: 'level' },
  { layout: '01/02/2006-15:04:05', example: '12/30/2025-10:15:00.123456  [**] [1:2:3] x', writer: 'Suricata' },
  { layout: '01-02 15:04:05', example: '12-30 10:15:00.123  1702  2395 D Tag: x', writer: 'logcat', needs: 'fraction' },
  { layout: '060102 15:04:05', example: '# Time: 251230 10:15:00', writer: 'MySQL 5.5, MariaDB (slow query log)', behind: '# Time: ' },
]; // prettier-ignore

const PATTERNS: Readonly<Record<string, string>> = {
  2006: String.raw`\d{4}`,
  Jan: '[A-Z][a-z]{2}',
  Mon: '[A-Z][a-z]{2}',
  _2: String.raw` ?\d\d?`,
  2: String.raw`\d\d?`,
  15: String.raw` ?\d\d?`,
  '.': String.raw`\.`,
  '\t': String.raw`\t`,
  T: '[T ]',
  I: '[IWEF]',
};

/** A regular expression for a line that begins with the form, up to its minutes: for joining lines. */
export function beginningPattern({ layout, behind }: TimeForm): string {
  const spaced = layout.replace(/:05$/, '').replace(/^(2006[-/]01[-/]02) /, '$1T');
  return (
    (behind ?? '') +
    spaced.replace(/2006|Jan|Mon|_2|0[1246]|15|[2.\tTI]/g, (token) => PATTERNS[token] ?? String.raw`\d\d`)
  );
}

/** The keys of an object that are tried for its time, in this order. */
export const TIME_KEYS: readonly string[] = [
  'time', 'timestamp', 'ts', '@timestamp', 'eventTime', 'Timestamp', '@t', 'datetime', 'asctime', 't', '__REALTIME_TIMESTAMP', 'timeUnixNano', 'instant',
]; // prettier-ignore
