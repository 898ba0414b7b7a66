/** Small changes to a query's text. What they give is checked by the service as any other text. */

import type { Value } from './api.ts';

/** A dataset or field as a query names it, whatever characters it has. */
export function quoteName(name: string): string {
  return `['${name.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}']`;
}

export function quoteValue(value: string | number | boolean): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

/** The text's stages: cut at pipes outside of quotes and brackets. */
export function stagesOf(text: string): string[] {
  const stages = [''];
  let quote = '';
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (quote !== '') {
      if (character === '\\') stages[stages.length - 1] += text[at++]!;
      else if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
    else if (character === '|' && depth <= 0) {
      stages.push('');
      continue;
    }
    stages[stages.length - 1] += text[at] ?? '';
  }
  return stages.map((stage) => stage.trim());
}

const SHAPES_NO_TIME = /^(?:where|filter|extend|parse|search)\b/;

/** The number of events over time that a query of events looks at: its dataset and leading filters. */
export function countOverTime(text: string): string {
  const [source, ...rest] = stagesOf(text);
  const end = rest.findIndex((stage) => !SHAPES_NO_TIME.test(stage));
  return [source, ...(end < 0 ? rest : rest.slice(0, end)), 'summarize events = count() by bin_auto(_time)'].join(' | ');
}

/** Adds a filter where events still have their fields: behind the leading filters. */
export function addFilter(text: string, condition: string): string {
  const [source = '', ...rest] = stagesOf(text);
  const end = rest.findIndex((stage) => !SHAPES_NO_TIME.test(stage));
  const at = end < 0 ? rest.length : end;
  return [source, ...rest.slice(0, at), `where ${condition}`, ...rest.slice(at)].join('\n| ');
}

/** The dataset that the text begins with; undefined for one that begins otherwise. */
export function datasetOf(text: string): string | undefined {
  const [, quoted, plain] = /^\s*(?:\['((?:[^'\\]|\\.)*)'\]|([A-Za-z_][\w-]*))\s*(?:\||$)/.exec(text) ?? [];
  return quoted?.replaceAll(/\\(.)/g, '$1') ?? plain;
}

/** Events that have this value, or another one. */
export function conditionOf(name: string, value: Value, sign: '==' | '!=' = '=='): string {
  const field = quoteName(name);
  if (value === null) return sign === '==' ? `isnull(${field})` : `isnotnull(${field})`;
  if (name === '_time' || name === '_sysTime') return `${field} ${sign} datetime(${JSON.stringify(value)})`;
  return `${field} ${sign} ${quoteValue(typeof value === 'object' ? JSON.stringify(value) : value)}`;
}
