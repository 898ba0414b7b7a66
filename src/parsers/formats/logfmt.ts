/** logfmt: `key=value key="quoted value" flag`. Values stay text, a key without one is true, a repeated one gets a list. */
import type { FormatParser } from './line-parser.ts';
import { addField, emptyFields, type EventFields, unparsed } from '../values/fields.ts';
import { closingQuote, unescapeQuoted } from '../values/quoted.ts';

const SPACES = /\s*/y;
const KEY = /[^\s="]+/y;
const VALUE = /[^\s"]*/y;

export const logfmtParser: FormatParser = {
  parse(text) {
    const fields = emptyFields();
    const failure = readPairs(text, fields);
    return [failure === undefined ? fields : unparsed(text, failure)];
  },
};

/** The problem, if there is one. */
function readPairs(text: string, fields: EventFields): string | undefined {
  let hasValue = false;
  for (let at = endOf(SPACES, text, 0); at < text.length; at = endOf(SPACES, text, at)) {
    const keyEnd = endOf(KEY, text, at);
    if (keyEnd === at) return `no key at character ${at + 1}`;
    const key = text.slice(at, keyEnd);
    at = keyEnd;
    if (text[at] !== '=') addField(fields, key, true);
    else {
      hasValue = true;
      const isQuoted = text[at + 1] === '"';
      const from = isQuoted ? at + 2 : at + 1;
      const to = isQuoted ? closingQuote(text, from) : endOf(VALUE, text, from);
      if (to === -1) return `a quote that is not closed at character ${from}`;
      addField(fields, key, isQuoted ? unescapeQuoted(text.slice(from, to)) : text.slice(from, to));
      at = isQuoted ? to + 1 : to;
    }
    if (at < text.length && endOf(SPACES, text, at) === at) return `a quote in a value at character ${at + 1}`;
  }
  return hasValue ? undefined : 'no key=value pair';
}

/** The end of the sticky pattern's match at `at`; `at` without one. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
