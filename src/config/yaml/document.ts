/**
 * YAML text to a plain tree with places; the only file that knows the yaml package. Promises: whatever the text is, it
 * ends in a tree or in reported problems, in bounded depth and without resolving anything that multiplies (aliases).
 */
import { isAlias, isMap, isScalar, isSeq, parseDocument } from 'yaml';
import type { Document, Pair, ParsedNode, Scalar } from 'yaml';
import { MAX_CONFIG_DEPTH } from '../limits.ts';
import { describeMove, findWrongIndent } from './indentation.ts';
import { LineIndex } from './line-index.ts';
import { quote } from '../quote.ts';
import { findUnquotedVariables, type UnquotedVariables } from './unquoted-variables.ts';
import type { JsonValue } from '../../core/block.ts';
import { trimEndOf } from '../../core/text/trim-end.ts';

/** `at` is the offset in the text where the node starts. */
export type YamlNode = YamlScalar | YamlMap | YamlList;

export interface YamlScalar {
  readonly kind: 'scalar';
  readonly at: number;
  readonly value: string | number | boolean | null;
  /** The value as written in the text, quotes and all. */
  readonly source: string;
}

export interface YamlMap {
  readonly kind: 'map';
  readonly at: number;
  readonly entries: readonly YamlEntry[];
}

export interface YamlEntry {
  readonly key: string;
  readonly keyAt: number;
  readonly value: YamlNode;
}

interface YamlList {
  readonly kind: 'list';
  readonly at: number;
  readonly items: readonly YamlNode[];
}

/** `fix` is what to write instead. */
export type ReportProblem = (at: number, message: string, fix?: string) => void;

const SYNTAX_FIXES: Record<string, string> = {
  RESOURCE_EXHAUSTION: `nest at most ${MAX_CONFIG_DEPTH} levels`,
  TAB_AS_INDENT: 'indent with spaces',
  BAD_INDENT: 'indent all keys of one mapping alike, with spaces, and close every `[` and `{`',
  BLOCK_AS_IMPLICIT_KEY: 'put the value on one line, or quote it when it holds `: `',
  MULTIPLE_DOCS: 'keep one configuration in one file, without a `---` between parts',
  BAD_SCALAR_START: 'put the value in quotes',
  BAD_DQ_ESCAPE: 'use single quotes where backslashes are meant as they stand',
};

/** How many problems a tree has as what it is to be. */
export type Judge = (root: YamlNode) => number;

/**
 * The tree of the one document in `text`, or undefined when it is empty or its syntax is broken (then it was reported). `judge` tells the line
 * that is indented wrongly from those beside it.
 */
export function parseYaml(text: string, report: ReportProblem, judge: Judge = () => 0): YamlNode | undefined {
  try {
    let document = readDocument(text);
    let unquoted: UnquotedVariables['ranges'] = [];
    if (document.errors.length > 0) {
      const { text: plain, ranges } = findUnquotedVariables(text);
      unquoted = ranges;
      for (const { from, to } of ranges) {
        // Its default may be a secret.
        const variable = quote(text.slice(from, to).replace(/:-.*/, ':-…}'));
        report(
          from,
          `\`${variable}\` needs quotes here: YAML reads its braces as a mapping`,
          `put the whole value in quotes, such as \`"${variable}"\``,
        );
      }
      if (ranges.length > 0) document = readDocument(plain);
    }
    // Its warnings are about tags, which are refused below.
    if (document.errors.length > 0 && !reportIndent(text, document, report, judge)) reportErrors(document, report);
    if (document.directives.yaml.version === '1.1') report(0, 'YAML 1.1 is not supported', 'remove the `%YAML` line');
    if (document.errors.length > 0 || document.contents === null) return undefined;
    return new TreeBuilder(text, report, unquoted).build(document.contents, 0);
  } catch (error) {
    // The package recurses: tens of thousands of opening brackets end its stack.
    if (!(error instanceof RangeError)) throw error;
    report(0, `is nested too deeply`, `nest at most ${MAX_CONFIG_DEPTH} levels`);
    return undefined;
  }
}

/** How many problems the text has, its keys among them; undefined where it is no YAML. */
export function countProblems(text: string, judge: Judge): number | undefined {
  const document = readDocument(text);
  if (document.errors.length > 0 || document.contents === null) return undefined;
  let problems = 0;
  const root = new TreeBuilder(text, () => void problems++, []).build(document.contents, 0);
  return problems + judge(root);
}

/** One wrong blank gives several errors, most of them at other lines: reports them as one, at the line to move. */
function reportIndent(text: string, { errors }: Document.Parsed, report: ReportProblem, judge: Judge): boolean {
  if (!errors.some(({ code }) => FOLLOW_EACH_OTHER.has(code) || code === 'MISSING_CHAR')) return false;
  const first = new LineIndex(text).locate(Math.min(...errors.map(({ pos }) => pos[0]))).line - 1;
  const found = findWrongIndent(text, first, (moved) => countProblems(moved, judge));
  if (found === undefined) return false;
  const { at, blanks, fix } = describeMove(text, found);
  report(at, `this line is indented by ${blanks}, which fits none of the lines around it`, fix);
  return true;
}

/** Errors of indentation follow from the first one. */
function reportErrors({ errors }: Document.Parsed, report: ReportProblem): void {
  const first = errors.find(({ code }) => FOLLOW_EACH_OTHER.has(code));
  for (const problem of errors)
    if (!FOLLOW_EACH_OTHER.has(problem.code) || problem === first)
      report(problem.pos[0], syntaxMessage(problem.code, problem.message), SYNTAX_FIXES[problem.code]);
}

const FOLLOW_EACH_OTHER = new Set([
  'BAD_INDENT',
  'BLOCK_AS_IMPLICIT_KEY',
  'MULTILINE_IMPLICIT_KEY',
  'UNEXPECTED_TOKEN',
]);

function readDocument(text: string): Document.Parsed {
  return parseDocument(text, {
    schema: 'core',
    // Checked here with a set: the package compares every pair of keys, which takes hours on a hostile file.
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'error',
  });
}

function syntaxMessage(code: string, message: string): string {
  if (code === 'RESOURCE_EXHAUSTION') return 'is nested too deeply';
  if (code === 'MULTIPLE_DOCS') return 'a second YAML document starts here';
  const line = message.split('\n')[0] ?? '';
  return `YAML: ${quote(trimEndOf(line, '.:'), 200)}`;
}

class TreeBuilder {
  readonly #text: string;
  readonly #lines: LineIndex;
  readonly #report: ReportProblem;
  /** Where a word was read in place of a variable. */
  readonly #unquoted: UnquotedVariables['ranges'];

  constructor(text: string, report: ReportProblem, unquoted: UnquotedVariables['ranges']) {
    this.#text = text;
    this.#unquoted = unquoted;
    this.#lines = new LineIndex(text);
    this.#report = report;
  }

  build(node: ParsedNode, depth: number): YamlNode {
    const at = node.range[0];
    if (isAlias(node)) {
      this.#report(at, `aliases (\`*${node.source.slice(0, 60)}\`) are not supported`, 'write the value out');
      return nothing(at);
    }
    if (node.anchor !== undefined) {
      const mark = this.#text.lastIndexOf(`&${node.anchor}`, at);
      this.#report(
        mark < 0 ? at : mark,
        `anchors (\`&${node.anchor.slice(0, 60)}\`) are not supported`,
        'remove it and write the value out',
      );
    }
    if (node.tag !== undefined) {
      // Some of them make values of other types: bytes, sets.
      this.#report(
        at,
        `tags (\`${quote(node.tag)}\`) are not supported`,
        'remove it; text that looks like a number goes in quotes',
      );
      return nothing(at);
    }
    if (depth > MAX_CONFIG_DEPTH) {
      this.#report(at, 'is nested too deeply', `nest at most ${MAX_CONFIG_DEPTH} levels`);
      return nothing(at);
    }
    if (isScalar(node)) {
      const source = this.#text.slice(at, node.range[1]);
      if (node.type === 'PLAIN') this.#refuseEntries(at, source);
      const hasVariable = this.#unquoted.some(({ from }) => from >= at && from < node.range[1]);
      return {
        kind: 'scalar',
        at,
        value: hasVariable
          ? source.replaceAll(/\s+/g, (blanks) => (blanks.includes('\n') ? ' ' : blanks))
          : scalarValue(node),
        source,
      };
    }
    if (isSeq<ParsedNode>(node))
      return { kind: 'list', at, items: node.items.map((item) => this.build(item, depth + 1)) };
    if (!isMap<ParsedNode, ParsedNode | null>(node)) throw new Error('unknown YAML node');
    return { kind: 'map', at, entries: this.#entries(node.items, depth) };
  }

  /** A list's entry one blank too far to the right is text of the entry above it: both would be one value, without an error. */
  #refuseEntries(at: number, source: string): void {
    const entry = /\n( *)- /.exec(source);
    if (entry === null) return;
    const [first, second] = [this.#lineAt(at), this.#lineAt(at + entry.index + 1)];
    const above = this.#text.slice(first.start, at).lastIndexOf('- ');
    const below = entry[1]!.length;
    if (above < 0 || above >= below) return;
    const linesAt = (indent: number): number =>
      this.#text.split('\n').filter((line) => line.search(/[^ ]/) === indent).length;
    const isFirst = linesAt(above) < linesAt(below);
    const [has, wants] = isFirst ? [above, below] : [below, above];
    const { at: place, fix } = describeMove(this.#text, { line: (isFirst ? first : second).line, has, wants });
    this.#report(place, 'this entry of a list and the one beside it are read as one text', fix);
  }

  #lineAt(at: number): { readonly line: number; readonly start: number } {
    const line = this.#lines.locate(at).line - 1;
    return { line, start: this.#lines.startOf(line) };
  }

  #entries(pairs: readonly Pair<ParsedNode, ParsedNode | null>[], depth: number): YamlEntry[] {
    const firstAt = new Map<string, number>();
    const entries: YamlEntry[] = [];
    for (const { key: keyNode, value } of pairs) {
      const keyAt = keyNode.range[0];
      if (!isScalar(keyNode) || keyNode.value === null) {
        this.#report(keyAt, 'a key must be plain text', 'put a name before the colon');
        continue;
      }
      if (keyNode.anchor !== undefined) this.#report(keyAt, 'anchors are not supported', 'remove it');
      // `404:` is the key "404", as it is written.
      const key = typeof keyNode.value === 'string' ? keyNode.value : (keyNode.source ?? '');
      if (key === '<<') {
        this.#report(keyAt, 'merge keys (`<<`) are not supported', 'write the keys out');
        continue;
      }
      const first = firstAt.get(key);
      if (first !== undefined) {
        this.#report(
          keyAt,
          `\`${key.slice(0, 60)}\` stands here a second time, first on line ${this.#lines.locate(first).line}`,
          'keep one of them',
        );
        continue;
      }
      firstAt.set(key, keyAt);
      entries.push({ key, keyAt, value: this.#valueOf(value, keyAt, depth) });
    }
    return entries;
  }

  /** An empty value has no place of its own: its key's place says more than the end of the line. */
  #valueOf(node: ParsedNode | null, keyAt: number, depth: number): YamlNode {
    if (node === null) return nothing(keyAt);
    const built = this.build(node, depth + 1);
    return built.kind === 'scalar' && built.value === null && built.source === '' ? nothing(keyAt) : built;
  }
}

function nothing(at: number): YamlScalar {
  return { kind: 'scalar', at, value: null, source: '' };
}

function scalarValue(scalar: Scalar): string | number | boolean | null {
  const { value } = scalar;
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value;
  throw new Error(`unknown YAML value: ${typeof value}`);
}

/** Copies the tree with each place changed by `move`. */
export function moveNode(node: YamlNode, move: (at: number) => number): YamlNode {
  const at = move(node.at);
  if (node.kind === 'scalar') return { ...node, at };
  if (node.kind === 'list') return { ...node, at, items: node.items.map((item) => moveNode(item, move)) };
  const entries = node.entries.map(({ key, keyAt, value }) => ({
    key,
    keyAt: move(keyAt),
    value: moveNode(value, move),
  }));
  return { ...node, at, entries };
}

/** The node as plain data; null for none. */
export function plainValue(node: YamlNode | undefined): JsonValue {
  if (node === undefined) return null;
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(plainValue);
  return Object.fromEntries(node.entries.map(({ key, value }) => [key, plainValue(value)]));
}
