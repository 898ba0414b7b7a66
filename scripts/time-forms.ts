/** The table of times in docs/formats.md, from the table that the readers and the tests have (core/time/forms.ts). */
import { TIME_FORMS } from '../src/core/time/forms.ts';

const BEGIN = '<!-- times: from src/core/time/forms.ts -->\n';
const END = '<!-- /times -->';

/** As code in a cell: a tab is shown, a bar does not end the cell. */
const code = (text: string): string => `\`${text.replaceAll('\t', '⇥').replaceAll('|', '\\|')}\``;

export function replaceTimeForms(document: string): string {
  const [before, rest = ''] = document.split(BEGIN);
  const after = rest.slice(rest.indexOf(END));
  const notes = {
    fraction: 'with at least three digits of a fraction',
    level: 'in front of a level',
    year: 'the year behind the clock',
  };
  const rows = TIME_FORMS.map(({ layout, example, writer, needs, behind, isUtc }) => {
    const more = [needs && notes[needs], behind && `behind ${code(behind.trim())}`, isUtc && 'UTC']
      .filter(Boolean)
      .join(', ');
    return `| ${code(layout)} | ${code(example)} | ${writer}${more === '' ? '' : `; ${more}`} |`;
  });
  return `${before}${BEGIN}\n| form | a line | written by |\n|---|---|---|\n${rows.join('\n')}\n\n${after}`;
}
