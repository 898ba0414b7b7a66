/**
 * Holds every regular expression of src to linear time: one that takes the square of a text's length lets a single line hold the agent's only
 * thread for seconds. A checker (recheck) judges each and names the worst text; patterns of users are RE2's and not here. Prints one line a
 * violation, `file:line: pattern, and the text`, and exits 1 if there is any.
 */
import { join } from 'node:path';
import { check } from 'recheck';
import { parseSync } from 'rolldown/experimental';
import { lineAt, listFiles, readText } from './files.ts';

interface Pattern {
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

/** A call that makes a regular expression of a text. */
interface Made {
  readonly file: string;
  readonly line: number;
}

/** Those that are made where nobody can judge them before, and why they are linear all the same. */
const MADE_LATER: Readonly<Record<string, string>> = {
  'src/cli/init/recognise.ts': 'of a list of its own, whose patterns repeat nothing without a bound',
  'src/config/fields/kinds-lines.ts': 'only compiled, to say what is wrong with it; matching is RE2',
  'src/core/time/go-layout.ts': 'of two digits, up to three times, behind the beginning',
  'src/service/engine/tables.ts': "of the service's own settings and the engine's own statement",
  'src/shaping/rows/values/plain-pattern.ts': 'has one way to match, and is for texts of at most 1,024 characters',
};

/** Steps and lengths instead of times: the verdict is the same on a busy machine. */
const JUDGEMENT = {
  timeout: 120_000,
  attackTimeout: null,
  incubationTimeout: null,
  attackLimit: 30_000_000,
  maxAttackStringSize: 50_000,
};
/** Ways to match at one place, up to which a pattern needs no judgement. */
const FEW_WAYS = 10_000;
const AT_ONCE = 4;

export async function checkPatterns(root: string): Promise<string[]> {
  const files = listFiles(root, ['.ts', '.tsx']).filter(
    (file) => file.startsWith('src/') && !file.startsWith('src/kernel/assembly/'),
  );
  const literals: Pattern[] = [];
  const calls: Made[] = [];
  for (const file of files) {
    const text = readText(root, file);
    if (!/RegExp|\//.test(text)) continue;
    visit(parseSync(join(root, file), text).program, (node) => {
      const line = lineAt(text, node['start'] as number);
      const regex = node['regex'] as { pattern: string; flags: string } | undefined;
      if (regex) literals.push({ place: `${file}:${line}`, source: regex.pattern, flags: regex.flags });
      else if ((node['callee'] as { name?: string } | undefined)?.name === 'RegExp') calls.push({ file, line });
    });
  }
  const made = await patternsMadeBy(root, [...new Set(calls.map(({ file }) => file))]);
  const unknown = calls.filter(
    ({ file, line }) => !Object.hasOwn(MADE_LATER, file) && !made.some(({ place }) => place === `${file}:${line}`),
  );
  const unused = Object.keys(MADE_LATER).filter((file) => !calls.some((call) => call.file === file));
  return [
    ...(await judge([...literals, ...made])),
    ...unknown.map(
      ({ file, line }) =>
        `${file}:${line}: a regular expression made at run time: write it as a literal, or at the top of its module`,
    ),
    ...unused.map((file) => `scripts/check-patterns.ts: ${file} makes no regular expression any more`),
  ];
}

type Node = Readonly<Record<string, unknown>>;

function visit(value: unknown, seen: (node: Node) => void): void {
  if (Array.isArray(value)) return value.forEach((each) => visit(each, seen));
  if (typeof value !== 'object' || value === null || value instanceof RegExp) return;
  const node = value as Node;
  if (typeof node['type'] === 'string') seen(node);
  for (const child of Object.values(node)) visit(child, seen);
}

/** What the modules make while they load. */
async function patternsMadeBy(root: string, files: readonly string[]): Promise<Pattern[]> {
  const made: Pattern[] = [];
  const original = globalThis.RegExp;
  const note = (regex: RegExp): RegExp => {
    const frame = new Error().stack!.split('\n').find((each) => each.includes(`${root}/src/`));
    const [, file, line] = /\/(src\/[^:]+):(\d+):\d+/.exec(frame ?? '') ?? [];
    if (file !== undefined) made.push({ place: `${file}:${line}`, source: regex.source, flags: regex.flags });
    return regex;
  };
  globalThis.RegExp = new Proxy(original, {
    construct: (target, args) => note(Reflect.construct(target, args) as RegExp),
  });
  for (const file of files) await import(join(root, file));
  globalThis.RegExp = original;
  return made;
}

async function judge(patterns: readonly Pattern[]): Promise<string[]> {
  const violations: string[] = [];
  const distinct = [...new Map(patterns.map((pattern) => [`${pattern.source}/${pattern.flags}`, pattern])).values()];
  const waiting = distinct.filter((pattern) => !isPlain(pattern));
  const work = async (): Promise<void> => {
    for (let pattern = waiting.pop(); pattern; pattern = waiting.pop()) {
      const { place, source, flags } = pattern;
      // The checker does not know the flag, which only reports where groups are.
      const verdict = await check(source, flags.replace('d', ''), JUDGEMENT);
      if (verdict.status === 'safe') continue;
      const why =
        verdict.status === 'vulnerable'
          ? `${verdict.complexity.summary}, as on ${verdict.attack.pattern}`
          : `cannot be judged: ${verdict.error.kind}`;
      violations.push(`${place}: /${source}/${flags} is ${why}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return violations.toSorted();
}

/**
 * Linear at a glance, which most are: repetitions have a bound and leave few ways to match at one place, but for one behind which nothing can fail,
 * and one more where there is one place to begin at.
 */
function isPlain({ source, flags }: Pattern): boolean {
  const bare = source.replaceAll(/\\[^]|\[(?:\\[^]|[^\]\\])*\]/g, 'x');
  const repetitions = bare.match(/[*+]|\{\d+,\}/g)?.length ?? 0;
  if (repetitions > 0 && /\(\?<?[=!]|\)[*+]|\)\{|\\[1-9k]/.test(`${bare}${source}`)) return false;
  const isAnchored = (bare.startsWith('^') || flags.includes('y')) && !bare.includes('|');
  if (repetitions > (isAnchored ? 1 : 0) + (/[^)](?:[*+]|\{\d+,\})\)*$/.test(bare) ? 1 : 0)) return false;
  const ways = [...bare.matchAll(/\{(\d+)(?:,(\d+))?\}/g)].map(
    ([, least, most = least]) => Number(most) - Number(least) + 1,
  );
  return !bare.includes('){') && ways.reduce((product, each) => product * each, 1) <= FEW_WAYS;
}

if (import.meta.main) {
  const violations = await checkPatterns(process.argv[2] ?? join(import.meta.dirname, '..'));
  for (const violation of violations) console.log(violation);
  // The checker leaves a process of its own behind.
  process.exit(violations.length > 0 ? 1 : 0);
}
