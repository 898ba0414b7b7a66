/** Which fields of events hold what looks like a secret, and the transform that hides it. */
import { findSecrets } from '../../agent/preview/find-secrets.ts';

const SECRET_NAME =
  /(?:^|[-_.])(?:password|passwd|pwd|passphrase|secret|client[-_]?secret|authorization|cookie|set-cookie|api[-_]?key|private[-_]?key|(?:access|refresh|auth|id|session|csrf)[-_]?token|token)$/i;
const END = String.raw`\s&"',;()`;
/** Not `yes` and `no`, as in `(using password: YES)`. RE2 has no look-ahead. */
const valueFrom = (others: string): string =>
  `(?:[^${END}ny${others}][^${END}]*|n(?:[^${END}o][^${END}]*|o[^${END}]+)|y(?:[^${END}e][^${END}]*|e(?:[^${END}s][^${END}]*|s[^${END}]+)))`;
/** `password=…` in a text, as a pattern for `redact`; `PWD=/home` is a folder. */
const PAIR = `(?i)\\b(?:(?:password|passwd|secret|token|api[_-]?key)[=:] ?${valueFrom('')}|pwd[=:] ?${valueFrom('/')})`;
/** The same, and no object that is printed (`token=Token{a64f992`). */
const PAIR_PATTERN =
  /\b(?:(?:password|passwd|secret|token|api[_-]?key)[=:] ?|pwd[=:] ?(?!\/))(?!(?:yes|no)(?![^\s&"',;()])|[\w.$]{1,64}\{)[^\s&"',;()]/i;
const OWN_FIELDS = new Set(['_time', 'host', 'file']);
const MAX_FIELDS = 50;
const MAX_DEPTH = 8;

/** By the field's name as the language writes it. */
export class SecretFields {
  readonly #removed = new Set<string>();
  readonly #redacted = new Map<string, Set<string>>();

  add(event: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(event)) if (!OWN_FIELDS.has(name)) this.#look(value, [name], 0);
  }

  /** Undefined where there is nothing to hide. */
  transform(): { readonly pipeline: string; readonly reasons: readonly string[] } | undefined {
    const steps: string[] = [];
    const removed = [...this.#removed];
    const redacted = [...this.#redacted].filter(
      ([field]) =>
        !removed.some((each) => field === each || field.startsWith(`${each}.`) || field.startsWith(`${each}[`)),
    );
    if (removed.length > 0) steps.push(`project-away ${removed.join(', ')}`);
    const calls = redacted.map(
      ([field, kinds]) => `${field} = redact(${field}, ${[...kinds].map((kind) => JSON.stringify(kind)).join(', ')})`,
    );
    if (calls.length > 0) steps.push(`extend ${calls.join(',\n         ')}`);
    if (steps.length === 0) return undefined;
    const reasons = [
      ...(removed.length > 0 ? [`${removed.join(', ')}: named like a secret`] : []),
      ...redacted.map(([field, kinds]) => `${field} holds ${[...kinds].map((kind) => kind.split('=')[0]).join(', ')}`),
    ];
    return { pipeline: steps.join('\n| '), reasons };
  }

  merge(other: SecretFields): void {
    for (const field of other.#removed) this.#removed.add(field);
    for (const [field, kinds] of other.#redacted) for (const kind of kinds) this.#redact(field, kind);
  }

  #look(value: unknown, path: readonly string[], depth: number): void {
    const field = fieldName(path);
    if (field === undefined || depth > MAX_DEPTH || this.#removed.size + this.#redacted.size >= MAX_FIELDS) return;
    if (typeof value === 'string' || Array.isArray(value)) {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      if (text !== '' && SECRET_NAME.test(path.at(-1)!)) return void this.#removed.add(field);
      for (const kind of findSecrets(text)) this.#redact(field, kind);
      if (PAIR_PATTERN.test(text)) this.#redact(field, `secret=/${PAIR}/`);
    } else if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value)) this.#look(inner, [...path, name], depth + 1);
  }

  #redact(field: string, kind: string): void {
    const kinds = this.#redacted.get(field) ?? new Set();
    this.#redacted.set(field, kinds.add(kind));
  }
}

/** `req.headers['set-cookie']`; undefined where a name has characters that a configuration should not be made of. */
function fieldName(path: readonly string[]): string | undefined {
  if (!path.every((name) => /^[\w .:/$@-]{1,100}$/.test(name))) return undefined;
  return path
    .map((name, at) => (/^[A-Za-z_]\w*$/.test(name) ? `${at === 0 ? '' : '.'}${name}` : `['${name}']`))
    .join('');
}
