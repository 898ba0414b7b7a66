/** The examples in docs/query-examples.md, from the cases of the functions. */
import { CASES } from '../test/language/functions/all.ts';
import { AGGREGATES_CASES } from '../test/language/functions/aggregates.ts';
import { AGGREGATES } from '../src/language/functions/aggregates/spec.ts';
import { SPECS } from '../src/language/functions/specs.ts';
import { TOPICS } from '../src/language/functions/topics.ts';
import { writtenCases, type WrittenCase } from '../test/language/function-cases.ts';
import { writeJson } from '../src/json/numbers.ts';
import { replaceParts } from './marked-parts.ts';

/** The first case under each name, and those with the source of a rule. */
function examples(cases: readonly WrittenCase[]): string {
  const shown = cases.filter(
    ({ called, source }, n) => source !== undefined || cases.findIndex((other) => other.called === called) === n,
  );
  const lines = shown.map(({ text, result, source, only }) => {
    const notes = [...(only === 'transforms' ? ['in transforms'] : []), ...(source === undefined ? [] : [source])];
    return `${text} → ${writeJson(result)}${notes.length > 0 ? `   // ${notes.join('; ')}` : ''}`;
  });
  return ['```text', ...lines, '```'].join('\n');
}

const topics = (infix: boolean): string =>
  TOPICS.filter((topic) => 'infix' in topic === infix)
    .map(({ name, title }) => `### ${title}\n\n${examples(writtenCases(SPECS[name], CASES[name]))}`)
    .join('\n\n');

const PARTS: Readonly<Record<string, () => string>> = {
  conditions: () => topics(true),
  functions: () => topics(false),
  aggregations: () => examples(writtenCases(AGGREGATES, AGGREGATES_CASES)),
};

export const replaceExamples = (page: string): string => replaceParts(page, PARTS, 'docs/query-examples.md');
