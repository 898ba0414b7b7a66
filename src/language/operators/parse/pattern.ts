/** The pattern of `parse` as a regular expression. */
import type { Type } from '../../types.ts';

export type PatternPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'column'; readonly name: string; readonly type: Type }
  /** `*`: anything. */
  | { readonly kind: 'rest' };

/** simple: texts match literally. regex: texts are regular expressions. relaxed: only values that do not fit their type are null. */
export const PATTERN_KINDS = ['simple', 'regex', 'relaxed'] as const;
export type PatternKind = (typeof PATTERN_KINDS)[number];

export const quoteRegex = (text: string): string => text.replaceAll(/[\\^$.|?*+()[\]{}-]/g, String.raw`\$&`);

/** Groups that a regular expression captures. */
export function countGroups(regex: string): number {
  const bare = regex.replaceAll(/\\Q[^]*?(?:\\E|$)|\\[^]|\[\^?\]?(?:\\[^]|[^\]\\])*(?:\]|\\?$)/g, '');
  return bare.match(/\((?!\?)|\(\?P?<(?![=!])/g)?.length ?? 0;
}

const NUMBERS: Readonly<Partial<Record<Type, string>>> = {
  int: String.raw`[+-]?\d+`,
  real: String.raw`[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?`,
  bool: 'true|false|True|False|TRUE|FALSE|0|1',
};

export function patternOf(parts: readonly PatternPart[], kind: PatternKind, flags: string): string {
  // In a regex a column takes as much as it can; the flag U turns that round.
  const isGreedy = (isLast: boolean): boolean => kind === 'regex' || isLast;
  const pattern = parts.map((part, n) => {
    const isLast = n === parts.length - 1;
    if (part.kind === 'text') return kind === 'regex' ? `(?:${part.text})` : quoteRegex(part.text);
    if (part.kind === 'rest') return isGreedy(isLast) ? '.*' : '.*?';
    const number = NUMBERS[part.type];
    const beforeRest = parts[n + 1]?.kind === 'rest';
    // Where anything follows, only its form says where a number ends.
    if (number !== undefined && (kind !== 'relaxed' || beforeRest))
      return kind === 'relaxed' ? `(${number}|)` : `(${number})`;
    return isGreedy(isLast) ? '(.*)' : '(.*?)';
  });
  return `(?s${[...new Set(flags)].filter((flag) => flag !== 's').join('')})^${pattern.join('')}$`;
}
