/**
 * Which fields of an event make its line: when it happened, how severe it is, where it comes from and what it says; then its other fields as
 * pairs. The explorer's lists and `tailrace query` on a terminal both read it here, so that they show the same. Pure; also runs in browsers.
 */

export interface EventLine<Value> {
  /** The event's own text; empty where it has none, as each of these. */
  readonly time: string;
  /** The event's own word; pino's numbers (`50`) by their names. */
  readonly severity: string;
  /** The service, program or logger that wrote it, else its host or file. */
  readonly source: string;
  readonly message: string;
  /** Every other field with a value: those that say most first, the rest in the event's order. Without the service's own columns. */
  readonly rest: readonly (readonly [name: string, value: Value])[];
}

/** The first of each that an event has is taken. */
const SEVERITIES = ['severity', 'level', 'log.level', 'severity_text', 'levelname', 'lvl'];
const SOURCES = [
  'service',
  'service.name',
  'app',
  'appname',
  'application',
  'SYSLOG_IDENTIFIER',
  'component',
  'logger',
  'logger_name',
  'container_name',
  'host',
  'hostname',
  'file',
];
const MESSAGES = ['message', 'msg', 'MESSAGE', 'log.message', 'body', 'event', 'log'];
/** The next most useful fields. */
const TELLING = [
  'error',
  'err.message',
  'error.message',
  'exception',
  'status',
  'method',
  'path',
  'url',
  'duration_ms',
];
/** The service's own, and the time. */
const OWN = new Set(['_time', '_sysTime', '_rowId', '_cursor']);

/** In this order a table of events shows its columns first. */
export const PREFERRED_FIELDS: readonly string[] = [
  ...SEVERITIES,
  ...SOURCES.slice(0, -3),
  ...MESSAGES,
  ...TELLING,
  ...SOURCES.slice(-3),
];

const PINO: ReadonlyMap<string, string> = new Map(
  Object.entries({ 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' }),
);

/** `fields` in the event's order; `textOf` gives a value that is not null on one line. */
export function eventLineOf<Value>(
  fields: Iterable<readonly [name: string, value: Value]>,
  textOf: (value: NonNullable<Value>) => string,
): EventLine<Value> {
  const event = new Map<string, Value>();
  for (const [name, value] of fields) if (value !== null && value !== undefined && value !== '') event.set(name, value);
  const time = event.get('_time') ?? event.get('_sysTime');
  const take = (names: readonly string[]): string => {
    const name = names.find((each) => isPlain(event.get(each)));
    const value = name === undefined ? undefined : event.get(name);
    if (name === undefined || value === undefined || value === null) return '';
    event.delete(name);
    return textOf(value);
  };
  const severity = nameSeverity(take(SEVERITIES));
  const source = take(SOURCES);
  const message = take(MESSAGES);
  const rank = (name: string): number => (TELLING.includes(name) ? TELLING.indexOf(name) : TELLING.length);
  const rest = [...event].filter(([name]) => !OWN.has(name)).sort(([a], [b]) => rank(a) - rank(b));
  return { time: time === undefined || time === null ? '' : textOf(time), severity, source, message, rest };
}

/** pino's numbers by their names; any other text as it is. */
export function nameSeverity(text: string): string {
  return PINO.get(text) ?? text;
}

/** How bad it is, for a colour. */
export function gravityOf(severity: string): 'bad' | 'warn' | undefined {
  const word = nameSeverity(severity).toLowerCase();
  if (/^(?:e|err|error|f|fatal|c|crit|critical|alert|emerg|emergency|panic|severe)$/.test(word)) return 'bad';
  return /^(?:w|warn|warning)$/.test(word) ? 'warn' : undefined;
}

/** A list or an object is no word and no sentence. */
function isPlain(value: unknown): boolean {
  return value !== undefined && value !== null && typeof value !== 'object';
}
