/** A value as a message shows it: on one line, without control characters, cut where it is long. */

const MAX_SHOWN = 60;

export function quote(value: unknown, maxShown = MAX_SHOWN): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const shown = text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
  return JSON.stringify(shown).slice(1, -1).replaceAll('\\"', '"').replaceAll('\\\\', '\\');
}
