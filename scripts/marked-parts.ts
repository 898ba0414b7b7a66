/** The page with the text between `<!-- NAME -->` and `<!-- end of NAME -->` written anew, for each name of the parts. */
export function replaceParts(page: string, parts: Readonly<Record<string, () => string>>, path: string): string {
  return Object.entries(parts).reduce((text, [name, render]) => {
    const [begin, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`];
    const [from, to] = [text.indexOf(begin), text.indexOf(end)];
    if (from === -1 || to < from) throw new Error(`the marks "${begin}" and "${end}" are missing in ${path}`);
    return `${text.slice(0, from)}${begin}\n\n${render()}\n\n${text.slice(to)}`;
  }, page);
}
