/** Which fields steps put where another one was, as it is: a value that is moved keeps its bytes. */
import type { NamePattern, Node, QueryStage } from '../../language/plan/tree.ts';
import { EACH } from '../../language/syntax/tree.ts';
import { splitsOf, topLevelNames } from './values/paths.ts';

/** Functions that give one of their arguments. */
const CHOOSING: ReadonlySet<string> = new Set(['iff', 'case', 'coalesce']);
/** A value is followed through so many steps. */
const MOST_STEPS = 8;
/** Characters of a path: events have names of any length, with any number of dots. */
const LONGEST_PATH = 1024;

export class Moves {
  /** By the path where a value is put, with dots: those where it may have been. */
  readonly #direct = new Map<string, Set<string>>();
  readonly #all = new Map<string, readonly string[]>();
  /** Top-level names that may hold moved values. */
  readonly names: ReadonlySet<string>;

  constructor(stages: readonly QueryStage[]) {
    for (const stage of stages) for (const [to, from] of movedBy(stage)) if (to !== from) this.#add(to, from);
    this.names = new Set([...this.#direct.keys()].flatMap(topLevelNames));
  }

  /** Paths in the event where the value at this path may have been, the likeliest first. */
  sourcesOf(path: string): readonly string[] {
    if (this.#direct.size === 0 || path.length > LONGEST_PATH) return [];
    const known = this.#all.get(path);
    if (known) return known;
    const found = new Set<string>();
    this.#follow(path, found, MOST_STEPS);
    const sources = [...found];
    // Paths are as many as events have names.
    if (this.#all.size < 1000) this.#all.set(path, sources);
    return sources;
  }

  /** The same of a name that may end openly. */
  sourcesOfName({ text, prefix }: NamePattern): NamePattern[] {
    const end = prefix ? 'x' : '';
    return this.sourcesOf(text + end).map((source) => ({ text: source.slice(0, source.length - end.length), prefix }));
  }

  #add(to: string, from: string): void {
    const sources = this.#direct.get(to);
    if (sources) sources.add(from);
    else this.#direct.set(to, new Set([from]));
  }

  #follow(path: string, found: Set<string>, steps: number): void {
    if (steps === 0) return;
    const heads = splitsOf(path).flatMap(([head, rest]) => {
      const [name, each] = head.endsWith(EACH) ? [head.slice(0, -EACH.length), EACH] : [head, ''];
      return [...(this.#direct.get(name) ?? [])].map((from) => `${from}${each}.${rest}`);
    });
    for (const from of [...(this.#direct.get(path) ?? []), ...heads]) {
      if (found.has(from)) continue;
      found.add(from);
      this.#follow(from, found, steps - 1);
    }
  }
}

function movedBy(stage: QueryStage): (readonly [to: string, from: string])[] {
  switch (stage.kind) {
    case 'rename':
      return stage.pairs.map(({ from, to }) => [to, from]);
    case 'extend':
    case 'project':
      return stage.columns.flatMap(({ name, node }) => pathsOf(node).map((from) => [name, from] as const));
    case 'expand':
      return stage.columns.flatMap(({ name, node }) =>
        pathsOf(node).flatMap((from) => [[name, from + EACH] as const, [name, from] as const]),
      );
    default:
      return [];
  }
}

/** The paths of the values that the expression returns unchanged. */
export function pathsOf(node: Node): string[] {
  if (node.kind === 'column') return [node.name];
  if (node.kind === 'apply') return CHOOSING.has(node.spec.name) ? node.args.flatMap(pathsOf) : [];
  if (node.kind !== 'item' || typeof node.key === 'object') return [];
  const { key } = node;
  return pathsOf(node.object).map((path) => (typeof key === 'string' ? `${path}.${key}` : `${path}[${key}]`));
}
