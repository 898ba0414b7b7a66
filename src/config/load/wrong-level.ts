/** A line that YAML can read in its place, but that belongs a level higher or deeper: its several problems become one. */
import { countProblems, type ReportProblem, type YamlNode } from '../yaml/document.ts';
import type { Environment } from '../yaml/expand.ts';
import { readTable, type FieldReading } from '../fields/field.ts';
import { MAX_CONFIG_PROBLEMS } from '../limits.ts';
import { agentTable } from '../tables/schema.ts';
import { describeMove, findFlatBlock, findWrongIndent } from '../yaml/indentation.ts';
import { LineIndex } from '../yaml/line-index.ts';

/** Problems at so many lines are looked into. */
const MOST_LINES = 3;
/** One problem names its line itself, unless it is that one of these is missing. */
const SECTION = /^ +(?:sources|sinks):/m;

/** Counts unknown keys, wrong values and missing ones, and tells none. */
export function judgeConfig(env: Environment): (root: YamlNode) => number {
  return (root) => (root.kind === 'map' ? placesOfProblems(root, env).length : MAX_CONFIG_PROBLEMS);
}

/** Reports the one line, or block, whose move leaves no problem; `known`: how many were reported by now. True where there is such a line. */
export function reportWrongLevel(
  text: string,
  root: YamlNode,
  known: number,
  env: Environment,
  report: ReportProblem,
): boolean {
  if (root.kind !== 'map') return false;
  const places = placesOfProblems(root, env);
  const section = SECTION.exec(text)?.index;
  if (known + places.length < 2 && (places.length === 0 || section === undefined)) return false;
  const index = new LineIndex(text);
  const lines = [...(section === undefined ? [] : [section]), ...places.filter((at) => at > 0)].map(
    (at) => index.locate(at).line - 1,
  );
  const isRight = (moved: string): boolean => countProblems(moved, judgeConfig(env)) === 0;
  const near = [...new Set(lines)].slice(0, MOST_LINES);
  const ways = [
    (line: number) => findWrongIndent(text, line, (moved) => (isRight(moved) ? 0 : undefined)),
    (line: number) => findFlatBlock(text, line, isRight),
  ];
  for (const [find, line] of ways.flatMap((find) => near.map((line) => [find, line] as const))) {
    const found = find(line);
    if (found === undefined) continue;
    const { at, blanks, fix } = describeMove(text, found);
    report(at, `this line is indented by ${blanks}, where what it says cannot stand`, fix);
    return true;
  }
  return false;
}

function placesOfProblems(root: YamlNode, env: Environment): number[] {
  const places: number[] = [];
  const reading: FieldReading = {
    env,
    leavesSecrets: true,
    report: (at) => void places.push(at),
    note: () => {},
    noteText: () => {},
  };
  if (root.kind === 'map') readTable(agentTable, root, '', reading);
  return places;
}
