/** Narrows a query's text to the events that were stored lately, or from one time on, so that it can be asked again and again. */
import { endOfSource } from './query-text.ts';

/** Throws an `AplError` for a text whose beginning cannot be read. */
export function sinceStored(text: string, seconds: number): string {
  return narrow(text, `_sysTime > ago(${seconds}s)`);
}

/** From the first of two times on, and not after the second. Both as the service prints them. Throws as `sinceStored` does. */
export function storedBetween(text: string, first: string, last?: string): string {
  const upTo = last === undefined ? '' : ` and _sysTime <= datetime("${last}")`;
  return narrow(text, `_sysTime >= datetime("${first}")${upTo}`);
}

function narrow(text: string, condition: string): string {
  const end = endOfSource(text);
  return `${text.slice(0, end)} | where ${condition} ${text.slice(end)}`;
}
