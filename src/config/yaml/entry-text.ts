/** Lines of a configuration that is written for a user. */

const COMMENT_COLUMN = 44;

/** A line, and a comment behind it. */
export function commented(text: string, comment: string): string {
  return `${text.padEnd(COMMENT_COLUMN - 1)} # ${comment}`;
}

/** A text in which no variable is replaced. */
export function yamlText(text: string): string {
  const literal = text.replaceAll('$', () => '$$');
  return /^[A-Za-z0-9/][A-Za-z0-9/._-]*$/.test(literal) && !/^\d|^(?:true|false|null|yes|no|on|off)$/i.test(literal)
    ? literal
    : JSON.stringify(literal);
}
