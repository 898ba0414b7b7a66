/** Operators that look into text: contains, startswith, has, matches regex and their kin. */
import type { FunctionSpec, FunctionTable } from '../../function-spec.ts';

export type MatchWord = 'contains' | 'startswith' | 'endswith' | 'has' | 'hasprefix' | 'hassuffix';
/** `!` makes the opposite, `_cs` compares with the case. */
export type MatchName = `${'' | '!'}${MatchWord}${'' | '_cs'}`;

const WORDS: readonly (readonly [word: MatchWord, doc: string])[] = [
  ['contains', 'a contains b'],
  ['startswith', 'a starts with b'],
  ['endswith', 'a ends with b'],
  ['has', 'a contains b as a whole term of letters and digits'],
  ['hasprefix', 'a term in a starts with b'],
  ['hassuffix', 'a term in a ends with b'],
];

export interface MatchForm {
  readonly word: MatchWord;
  readonly not: boolean;
  readonly fold: boolean;
}

/** Every form of the words with what it means. */
export const MATCH_FORMS: readonly (readonly [name: MatchName, form: MatchForm])[] = WORDS.flatMap(([word]) =>
  [true, false].flatMap((fold) =>
    [false, true].map((not) => [`${not ? '!' : ''}${word}${fold ? '' : '_cs'}`, { word, not, fold }] as const),
  ),
);

const MATCHES = Object.fromEntries(
  MATCH_FORMS.map(([name, { word, not, fold }]): [MatchName, FunctionSpec] => {
    const doc = WORDS.find(([other]) => other === word)![1];
    const everything = word !== 'hasprefix' && word !== 'hassuffix';
    return [
      name,
      {
        syntax: `a ${name} b`,
        doc: `True ${not ? 'unless' : 'if'} ${doc}${fold ? ', ignoring case' : ', with its case'}.`,
        args: ['string', 'string'],
        returns: 'bool',
        everything,
      },
    ];
  }),
) as Record<MatchName, FunctionSpec>;

const LISTS = {
  has_any: { syntax: 'a has_any (b, c, …)', doc: 'True if a contains one of the terms, ignoring case.', args: ['string'], rest: 'any', returns: 'bool' },
  has_any_cs: { syntax: 'a has_any_cs (b, c, …)', doc: 'True if a contains one of the terms, with its case.', args: ['string'], rest: 'any', returns: 'bool' },
  has_all: { syntax: 'a has_all (b, c, …)', doc: 'True if a contains all of the terms, ignoring case.', args: ['string'], rest: 'any', returns: 'bool' },
  'matches regex': { syntax: 'a matches regex b', doc: 'True if the regular expression b (RE2) matches anywhere in a.', args: ['string', 'string'], returns: 'bool' },
  '!matches regex': { syntax: 'a !matches regex b', doc: 'True if it matches nowhere.', args: ['string', 'string'], returns: 'bool' },
} satisfies FunctionTable; // prettier-ignore

export const TEXT_MATCHING = { ...MATCHES, ...LISTS };
