/** Several formats for one source: each text is of the first that fits. */
import { parseExactObject } from '../../json/numbers.ts';
import type { FormatParser } from './line-parser.ts';
import { unparsed } from '../values/fields.ts';

/** Formats that are tried in turn, each on one text. */
export function createFirstFormat(parsers: readonly FormatParser[]): FormatParser {
  return {
    parse(text) {
      for (const parser of parsers) {
        const events = parser.parse(text);
        if (
          events.length > 0 &&
          events.every((event) => typeof event === 'string' || !Object.hasOwn(event, 'parse_error'))
        )
          return events;
      }
      return [unparsed(text, 'fits none of `formats`')];
    },
  };
}

export const textParser: FormatParser = { parse: (text) => [{ message: text.replaceAll('\r\n', '\n') }] };

export const jsonParser: FormatParser = {
  parse(text) {
    const line = text.trim();
    return [parseExactObject(line) ? line : unparsed(text, 'not a JSON object')];
  },
};
