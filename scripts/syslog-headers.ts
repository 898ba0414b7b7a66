/** The table of headers in docs/syslog.md, from the table that the reader and the tests have (sources/syslog/message/header-forms.ts). */
import { HEADER_FORMS } from '../src/sources/syslog/message/header-forms.ts';

const BEGIN = '<!-- headers: from src/sources/syslog/message/header-forms.ts -->\n';
const END = '<!-- /headers -->';

const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``;

export function replaceHeaderForms(document: string): string {
  const [before, rest = ''] = document.split(BEGIN);
  const after = rest.slice(rest.indexOf(END));
  const rows = HEADER_FORMS.map(({ sender, example, event }) => {
    const { message: _message, ...fields } = event;
    const found = Object.entries(fields).map(
      ([name, value]) => `${name} ${code(typeof value === 'string' ? value : JSON.stringify(value))}`,
    );
    return `| ${sender} | ${code(example)} | ${found.join(', ')} |`;
  });
  return `${before}${BEGIN}\n| sender | a message | its fields |\n|---|---|---|\n${rows.join('\n')}\n\n${after}`;
}
