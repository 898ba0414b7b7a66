/** Functions of text that take a regular expression, or a set of characters. */
import { groupOf, groupsOf } from '../../../language/plan/literals.ts';
import type { Build, Call, Evaluate } from '../call/call.ts';
import { lift1 } from '../call/lift.ts';
import { compileRegex, regexArgument, type Regex } from './regex.ts';
import { bounded } from '../values/text.ts';

function ofRegex(call: Call, text: number, build: (value: string, regex: Regex) => ReturnType<Evaluate>): Evaluate {
  const [pattern, value] = [regexArgument(call, 0), call.string(text)];
  return (scope) => {
    const [regex, found] = [pattern(scope), value(scope)];
    return regex === undefined || found === null ? null : build(found, regex);
  };
}

export function countOfRegex(call: Call): Evaluate {
  return ofRegex(call, 1, (text, regex) => {
    let count = 0n;
    for (const { start, end } of regex.matches(text)) if (end > start) count++;
    return count;
  });
}

/** `$1` and `${1}` stand for groups, `$0` for the whole match; `\\` for a backslash as the engine of the service has it. */
export function replaceRegex(call: Call): Evaluate {
  const rewrite = String(call.constant(1).value);
  const parts = rewrite.split(/\$(?:(\d)|\{(\d)\})/).map((part, n) => ({ part, kind: n % 3 })).filter(({ part }) => part !== undefined);
  return ofRegex(call, 2, (text, regex) =>
    bounded(regex.replace(text, ({ groups }) => parts.map(({ part, kind }) => (kind === 0 ? part : (groups[Number(part)] ?? ''))).join(''))),
  );
} // prettier-ignore

export function extract(call: Call): Evaluate {
  const group = groupOf(call);
  const [pattern, text] = [regexArgument(call, 0), call.string(2)];
  return (scope) => pattern(scope)?.first(text(scope) ?? '')?.groups[group] ?? null;
}

export function extractAll(call: Call): Evaluate {
  const groups = groupsOf(call);
  const [only] = groups;
  return ofRegex(call, call.count - 1, (text, regex) =>
    Array.from(regex.matches(text), (match) => (groups.length === 1 ? (match.groups[only!] ?? '') : groups.map((group) => match.groups[group] ?? ''))),
  );
} // prettier-ignore

/** The characters of a set removed from the ends of a text. */
export const trim =
  (start: boolean, end: boolean): Build =>
  (call) => {
    const set = new Set(String(call.constant(0).value));
    return lift1(call.string(1), (text) => {
      if (set.size === 0) return text;
      const chars = Array.from(text);
      const from = start ? chars.findIndex((char) => !set.has(char)) : 0;
      const to = end ? chars.findLastIndex((char) => !set.has(char)) + 1 : chars.length;
      return from < 0 ? '' : chars.slice(from, to).join('');
    });
  };

/** In trim_regex a dot matches a newline, too. */
export const trimRegex =
  (start: boolean, end: boolean): Build =>
  (call) => {
    const unit = `(?:${String(call.constant(0).value)})+`;
    const fail = (message: string): Error => call.fail(0, message);
    const sides = [...(start ? [`(?s)^(?:${unit})`] : []), ...(end ? [`(?s)(?:${unit})$`] : [])].map((side) => compileRegex(side, fail));
    return lift1(call.string(1), (text) => sides.reduce((result, side) => side.replace(result, () => ''), text));
  };
