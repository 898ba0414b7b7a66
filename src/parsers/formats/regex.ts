/** A format given by a regular expression: its named groups are the event's fields, as text. */
import type { FormatParser } from './line-parser.ts';
import { unparsed } from '../values/fields.ts';
import type { GroupPattern } from '../text/pattern.ts';

export function createRegexParser(pattern: GroupPattern): FormatParser {
  return {
    parse(text) {
      // Joined lines of Windows.
      const lines = text.replaceAll('\r\n', '\n');
      return [pattern.groups(lines) ?? unparsed(lines, 'does not match `regex`')];
    },
  };
}
