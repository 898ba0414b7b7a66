/** A value as a message shows it: on one line, without control characters, cut where it is long. */

const MAX_SHOWN = 60;

export function quote(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return JSON.stringify(shown).slice(1, -1).replaceAll('\\"', '"').replaceAll('\\\\', '\\');
}
