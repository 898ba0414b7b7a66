/** Small changes to a query's text. What they give is checked by the service as any other text. */

import { AplError, attempt } from '../../../language/syntax/apl-error.ts';
import { tokenAt } from '../../../language/syntax/lexer.ts';
import { formatCell } from '../../parts/show-text.ts';

/** A dataset or field as a query names it, whatever characters it has. */
export function quoteName(name: string): string {
  return `['${name.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}']`;
}

/** The text's stages: cut at pipes outside of brackets, as the compiler's own lexer finds them. */
export function stagesOf(text: string): string[] {
  const cuts = [-1];
  let depth = 0;
  for (let at = 0; at < text.length;) {
    const token = attempt(() => tokenAt(text, at));
    // The text inside `datetime(…)` need not be tokens.
    at = token instanceof AplError ? token.at + 1 : token.end;
    if (token instanceof AplError || token.kind !== 'symbol') continue;
    if ('([{'.includes(token.text)) depth += 1;
    else if (')]}'.includes(token.text)) depth -= 1;
    else if (token.text === '|' && depth <= 0) cuts.push(token.at);
  }
  return cuts.map((cut, n) => text.slice(cut + 1, cuts[n + 1]).trim());
}

const SHAPES_NO_TIME = /^(?:where|filter|extend|parse|search)\b/;

/** A text's source, the stages that only choose events or give them fields, and the others. */
export function leadingStages(text: string): {
  readonly source: string;
  readonly leading: readonly string[];
  readonly rest: readonly string[];
} {
  const [source = '', ...stages] = stagesOf(text);
  const end = stages.findIndex((stage) => !SHAPES_NO_TIME.test(stage));
  const at = end < 0 ? stages.length : end;
  return { source, leading: stages.slice(0, at), rest: stages.slice(at) };
}

/** The number of events over time that a query of events looks at: its dataset and leading filters. */
export function countOverTime(text: string): string {
  const { source, leading } = leadingStages(text);
  return [source, ...leading, 'summarize events = count() by bin_auto(_time)'].join(' | ');
}

/** The dataset that the text begins with; undefined for one that begins otherwise. */
export function leadingDataset(text: string): string | undefined {
  const [, quoted, plain] = /^\s*(?:\['((?:[^'\\]|\\.)*)'\]|([A-Za-z_][\w-]*))\s*(?:\||$)/.exec(text) ?? [];
  return quoted?.replaceAll(/\\(.)/g, '$1') ?? plain;
}

const MOST_IN_TITLE = 60;

/** What the browser's tab says: the dataset's own name, and the stages on one line. */
export function titleOf(text: string, isLive: boolean): string {
  if (text.trim() === '') return 'Explorer · Tailrace';
  const dataset = leadingDataset(text);
  const [source, ...stages] = stagesOf(text);
  return `${isLive ? 'Live · ' : ''}${formatCell([dataset ?? source, ...stages].join(' | '), MOST_IN_TITLE)} · Tailrace`;
}
