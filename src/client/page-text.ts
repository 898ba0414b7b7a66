/** The words of a page that a proxy or a firewall answers with. Pure, in linear time on any text. */

/** Characters of an answer that are looked at: its title stands at its beginning. */
const MAX_CHARACTERS = 64 * 1024;
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&#39;', "'"],
  ['&nbsp;', ' '],
]);
/** What a terminal may obey, or that turns the direction of what follows, and what stands for bytes that are no text. */
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffd]/g;
/** An answer with a larger share of these is no text. */
const MAX_UNPRINTABLE_SHARE = 0.1;

/** The title of an HTML page, else its words outside of tags; other text as it is. Without characters that cannot be printed. */
export function pageText(answer: string): string {
  const text = answer.slice(0, MAX_CHARACTERS);
  const unprintable = text.match(UNPRINTABLE)?.filter((character) => !/\s/.test(character)).length ?? 0;
  if (unprintable > text.length * MAX_UNPRINTABLE_SHARE) return '(the answer is no text)';
  const words = text.trimStart().startsWith('<') ? titleOf(text) || wordsOf(text) : text;
  return words.replaceAll(UNPRINTABLE, ' ');
}

function titleOf(page: string): string {
  const lower = page.toLowerCase();
  const tag = lower.indexOf('<title');
  const from = tag < 0 ? -1 : lower.indexOf('>', tag);
  if (from < 0) return '';
  const to = lower.indexOf('<', from);
  return decode(page.slice(from + 1, to < 0 ? undefined : to)).trim();
}

/** The text between the tags, without scripts and styles. */
function wordsOf(page: string): string {
  const lower = page.toLowerCase();
  let words = '';
  for (let at = 0; at < page.length;) {
    const open = page.indexOf('<', at);
    words += ` ${page.slice(at, open < 0 ? undefined : open)}`;
    if (open < 0) break;
    const hidden = ['<script', '<style'].find((tag) => lower.startsWith(tag, open));
    const end = hidden ? lower.indexOf(`</${hidden.slice(1)}`, open) : open;
    const close = end < 0 ? -1 : page.indexOf('>', end);
    if (close < 0) break;
    at = close + 1;
  }
  return decode(words).trim();
}

function decode(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => ENTITIES.get(entity) ?? entity);
}
