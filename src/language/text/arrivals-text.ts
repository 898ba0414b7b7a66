/** Narrows a query's text to the events that were stored lately, so that it can be asked again and again. */
import { endOfSource } from './query-text.ts';

/** Throws an `AplError` for a text whose beginning cannot be read. */
export function sinceStored(text: string, seconds: number): string {
  const end = endOfSource(text);
  return `${text.slice(0, end)} | where _sysTime > ago(${seconds}s) ${text.slice(end)}`;
}
