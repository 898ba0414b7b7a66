/** Why one event is not written as it was read. */
import { MAP_KEY } from '../datasets/field-types.ts';
import { quote } from '../http/api-error.ts';
import type { JsonText } from '../../json/exact-reader.ts';

/** Thrown when a value that `JSON.parse` read may not be what the text says; it is then read again exactly. */
export class InexactValue extends Error {}

/** The reason why one event fails. */
export class EventFailure extends Error {
  constructor(reason: string) {
    super(reason.replaceAll(MAP_KEY, '.'));
  }
}

const INTEGER = /^-?\d+$/;
const SHOWN_DIGITS = 40;

/** The number's text. An integer keeps its digits, however many; throws `EventFailure` for any other number that would become infinity, or 0. */
export function keepNumber({ text }: JsonText, field: string): string {
  const nearest = Number(text);
  if (INTEGER.test(text) || (Number.isFinite(nearest) && nearest !== 0)) return text;
  const shown = text.length > SHOWN_DIGITS ? `${text.slice(0, SHOWN_DIGITS)}…` : text;
  const limit = nearest === 0 ? 'too close to 0: wanted 0 or at least 5e-324' : 'too large: wanted at most 1.8e308';
  throw new EventFailure(`the number ${shown} in field ${quote(field)} is ${limit}; send it as a text to keep it`);
}
