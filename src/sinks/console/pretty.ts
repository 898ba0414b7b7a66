/** Events for people: one line each with time, message and the other fields, control characters made visible. */

const DIM = '\u001b[2m';
const BOLD = '\u001b[1m';
const PLAIN = '\u001b[0m';
/** The first of these that an event has is shown as its message. */
const MESSAGES = ['message', 'msg', 'body'];

// oxlint-disable-next-line no-control-regex -- what a terminal would obey
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const visible = (text: string): string =>
  text.replaceAll(CONTROL, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).replaceAll('\n', '\n    ');

/** A batch of NDJSON as lines; with `hasColour` dim times and names. */
export function prettyLines(body: Uint8Array, hasColour: boolean): string {
  const paint = (code: string, text: string): string => (hasColour ? `${code}${text}${PLAIN}` : text);
  const lines = Buffer.from(body).toString().split('\n');
  return lines.flatMap((line) => (line === '' ? [] : `${prettyLine(line, paint)}\n`)).join('');
}

function prettyLine(line: string, paint: (code: string, text: string) => string): string {
  const event = JSON.parse(line) as Record<string, unknown>;
  const key = MESSAGES.find((name) => typeof event[name] === 'string');
  const time = typeof event['_time'] === 'string' ? `${paint(DIM, visible(event['_time']))} ` : '';
  const message = key === undefined ? '' : paint(BOLD, visible(event[key] as string));
  const fields = Object.entries(event).filter(([name]) => name !== '_time' && name !== key);
  const written = fields.map(
    ([name, value]) => `${paint(DIM, `${visible(name)}=`)}${visible(typeof value === 'string' ? value : JSON.stringify(value))}`,
  );
  return `${time}${[message, ...written].filter((part) => part !== '').join('  ')}`;
}
