/** Operators that look into text: contains, startswith, has, matches regex and their kin. A value that is not there matches nothing but `!…`. */
import { MATCH_FORMS, type MatchForm, type MatchName, type TEXT_MATCHING } from './spec.ts';
import type { Of, RowBuild, RowBuilders, RowCall } from '../../../shaping/rows/call/call.ts';
import { lift1 } from '../../../shaping/rows/call/lift.ts';
import { regexArgument } from '../../../shaping/rows/call/regex.ts';
import { listItems, negated } from '../comparisons/rows.ts';
import { placesOf } from '../../../shaping/rows/values/places.ts';

const TERM = /[\p{L}\p{N}]/u;

function isTermAt(text: string, at: number): boolean {
  const point = text.codePointAt(at);
  if (point === undefined) return false;
  if (point < 0x80)
    return (point >= 0x30 && point < 0x3a) || (point >= 0x41 && point < 0x5b) || (point >= 0x61 && point < 0x7b);
  return TERM.test(String.fromCodePoint(point));
}

function isTermBefore(text: string, at: number): boolean {
  if (at === 0) return false;
  const unit = text.charCodeAt(at - 1);
  return isTermAt(text, unit >= 0xdc_00 && unit < 0xe0_00 && at > 1 ? at - 2 : at - 1);
}

/** Whether the text has the term with no letter or digit directly beside one of its own. */
function hasTerm(text: string, term: string): boolean {
  const [starts, ends] = [isTermAt(term, 0), isTermBefore(term, term.length)];
  for (const at of placesOf(text, term))
    if (!(starts && isTermBefore(text, at)) && !(ends && isTermAt(text, at + term.length))) return true;
  return false;
}

function hasPrefix(text: string, wanted: string): boolean {
  for (const at of placesOf(text, wanted)) if (!isTermBefore(text, at)) return true;
  return false;
}

function hasSuffix(text: string, wanted: string): boolean {
  for (const at of placesOf(text, wanted)) if (!isTermAt(text, at + wanted.length)) return true;
  return false;
}

const TESTS: Readonly<Record<MatchForm['word'], (text: string, wanted: string) => boolean>> = {
  contains: (text, wanted) => text.includes(wanted),
  startswith: (text, wanted) => text.startsWith(wanted),
  endswith: (text, wanted) => text.endsWith(wanted),
  has: (text, wanted) => wanted === '' || hasTerm(text, wanted),
  hasprefix: hasPrefix,
  hassuffix: hasSuffix,
};

const folded = (fold: boolean, text: Of<string | null>): Of<string | null> =>
  fold ? lift1(text, (found) => found.toLowerCase()) : text;

const matching =
  ({ word, not, fold }: MatchForm): RowBuild =>
  (call) => {
    const [text, wanted, test] = [folded(fold, call.string(0)), folded(fold, call.string(1)), TESTS[word]];
    return (scope) => {
      const [value, part] = [text(scope), wanted(scope)];
      return (value !== null && part !== null && test(value, part)) !== not;
    };
  };

const hasMany =
  (fold: boolean, all: boolean): RowBuild =>
  (call) => {
    const text = folded(fold, call.string(0));
    const items = listItems(call);
    return (scope) => {
      const value = text(scope);
      const found = (item: (typeof items)[number]): boolean => {
        const term = item(scope);
        return typeof term === 'string' && value !== null && TESTS.has(value, fold ? term.toLowerCase() : term);
      };
      const terms = items.filter((item) => typeof item(scope) === 'string');
      return all ? terms.every(found) : terms.some(found);
    };
  };

function matchesRegex(call: RowCall): Of<boolean> {
  const [text, regex] = [call.string(0), regexArgument(call, 1)];
  return (scope) => {
    const value = text(scope);
    return value !== null && regex(scope)?.test(value) === true;
  };
}

export const TEXT_MATCHING_ROWS: RowBuilders<typeof TEXT_MATCHING> = {
  ...(Object.fromEntries(MATCH_FORMS.map(([name, form]) => [name, matching(form)])) as Record<MatchName, RowBuild>),
  has_any: hasMany(true, false),
  has_any_cs: hasMany(false, false),
  has_all: hasMany(true, true),
  'matches regex': matchesRegex,
  '!matches regex': negated(matchesRegex),
};
