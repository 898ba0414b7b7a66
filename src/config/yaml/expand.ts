/**
 * `${VAR}` and `${VAR:-default}` in one text. Works on values after YAML is parsed, so that no value of a variable can
 * change the structure. `$$` is one dollar; a dollar that starts neither stays as it is.
 */

import { hostname } from 'node:os';

export type Environment = Readonly<Record<string, string | undefined>>;

/** `nth` counts the dollar signs of the text from 0, to find the place in the file again. */
interface ExpandProblem {
  readonly nth: number;
  readonly message: string;
  readonly fix: string;
}

export interface ExpandedText {
  readonly text: string;
  /** True when a variable stood in the text. */
  readonly variables: boolean;
  readonly problems: readonly ExpandProblem[];
}

const MARK = /\$\$|\$\{([^}]*)(\}?)/g;
const VARIABLE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([^]*))?$/;

/** `orElse` is what else than to set a variable: a secret has no default, which would put it into the file. */
export function expand(text: string, env: Environment, orElse?: string): ExpandedText {
  const problems: ExpandProblem[] = [];
  let nth = -1;
  let variables = false;
  const result = text.replaceAll(MARK, (mark, body: string | undefined, close: string | undefined) => {
    nth++;
    if (body === undefined) return '$';
    variables = true;
    const [, name, fallback] = VARIABLE.exec(body) ?? [];
    if (close === '')
      problems.push({
        nth,
        message: '`${` is not closed',
        fix: 'write `${NAME}`, or `$${` for the two characters themselves',
      });
    else if (name === undefined || fallback?.includes('${') === true) {
      problems.push({
        nth,
        message: `\`${mark.slice(0, 60)}\` is not a variable`,
        fix: 'write `${NAME}` or `${NAME:-default}`, not nested',
      });
    } else {
      const value = Object.hasOwn(env, name) ? env[name] : undefined;
      // As in a shell, `:-` also replaces an empty value.
      if (fallback !== undefined) return value === undefined || value === '' ? fallback : value;
      if (value !== undefined) return value;
      // A shell's variable, which services seldom have.
      if (name === 'HOSTNAME') return hostname();
      problems.push({
        nth,
        message: `the environment variable \`${name}\` is not set`,
        fix: `set ${name}, or ${orElse ?? `write \`\${${name}:-default}\``}`,
      });
    }
    return '';
  });
  return { text: result, variables, problems };
}

/** The index of the nth dollar sign in `source` (the value as written in the file); 0 if escapes hide it. */
export function findVariable(source: string, nth: number): number {
  return [...source.matchAll(MARK)][nth]?.index ?? 0;
}
