/** The three ways of shaping side by side on random lines and pipelines: over bytes, over few values, over whole objects. */
import { createPipelineStage } from '../../../src/shaping/pipeline/pipeline-stage.ts';
import { compileRows, type RowProgram } from '../../../src/shaping/rows/program.ts';
import { createKernel } from '../../../src/kernel/kernel.ts';
import type { Region } from '../../../src/core/block.ts';
import type { EventList, ShapingStage, StageResult } from '../../../src/shaping/stages/stage.ts';
import { words } from '../../support/words.ts';

const WAYS = [undefined, 'values', 'objects'] as const;
const CONTEXT = { source: 'app', stream: 's', readAtMs: 1_795_256_100_000, offsetOf: (event: number) => 100 * event };

/** A generator of whole numbers below `below` (xorshift32). */
export function seeded(seed: number): (below: number) => number {
  let state = (seed ^ 0x9e37_79b9) | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

type Random = (below: number) => number;
const pick = <T>(random: Random, from: readonly T[]): T => from[random(from.length)]!;

const NAMES = [
  ...words`a b c req req.id a.b a.b.c b.c level msg é x"y 0 12 __proto__ _time a. long-name-of-a-field`,
  '',
];
const SCALARS = [
  '0',
  '-0',
  '1',
  '20',
  '20.0',
  '2e1',
  '30',
  '-5',
  '1.5',
  '1.50',
  '0.1',
  '100000000000000000000',
  '123456789012345',
  '1234567890123456',
  '9007199254740993',
  '0.000001',
  '0.0000001',
  '1e-7',
  '1e999',
  '-1.25',
  '0.30000000000000004',
  'true',
  'false',
  'null',
  '""',
  '"x"',
  '"prod"',
  '"\\u0070rod"',
  '"a\\"b\\\\"',
  '"a\\/b"',
  '"\\ud834\\udd1e é"',
  '"\\ud800"',
  '"ünï"',
  '"\\n\\t"',
  '"\\u000a"',
  '"zz"',
  '"x y z, a longer text that needs more than one step of sixteen bytes { [ } ]"',
  '"\\\\"',
  '"ends in a backslash \\\\"',
  '"{"',
  '"]"',
  '{}',
  '[]',
  '[1,"x",null]',
  '{"b":1}',
  '{"id":7,"headers":{"a":1,"b":"x"}}',
  '{"b":{"c":"x"}}',
  '{"0":1,"b":2}',
  '{"b":1,"b":2}',
  '{"b":{"c":1},"b":3}',
  '{"b.c":"x","b":{"c":"prod"}}',
  '{ "b" : 1 , "c" : 2 }',
  '{"c":1.0,"b":2}',
  '{"\\u0062":1,"b":{"c":20}}',
  '[[[{"b":[{}]}]]]',
  '{"":{"":1},"b":{}}',
  '1e400',
  '1.10',
  '-1E+400',
  '12345678901234567890',
  '{"id":1,"e":1e400,"n":1.10,"k":1,"k":2}',
  '{"headers":{"a":1,"e":1e400,"e":2.0},"id":1.10, "big":9007199254740993 }',
  '[{"b":1,"c":1.10},{"b":2,"e":1e400,"b":3}]',
  '[[{"b":{"c":1.0,"b":1}}],7,"x",{"c":[{"b":1}]}]',
  '{"b":[{"c":1.10,"d":1e400}],"b":[{"c":2}]}',
  '{"b":{"c":"x"},"12":1.0,"0":2,"b":{"d":1}}',
] as const;
const TEXTS = [
  '4111 1111 1111 1111',
  '4111-1111-1111-1111',
  '378282246310005',
  '2026-11-22 10:00:00',
  ' 12 34 5',
  '1',
  'a@b.com',
  'x@y',
  'Bearer ',
  'bearer abcdefgh',
  'BEARER',
  'eyJaaaaaa.bbbbbbb.c',
  'eyJ',
  'Basic YTpi',
  'http://u:p@h',
  'AKIAABCDEFGHIJKLMNOP',
  'aws_secret_access_key=',
  'abcdefghijklmnopqrstuvwxyz0123456789ABCD',
  'ghp_',
  'sk_live_abcdefghijklm',
  'xoxb-1234567890ab',
  '-----BEGIN PRIVATE KEY-----',
  'AIza',
  'ya29.',
  'a"b',
  'é',
  '\\',
  '\n',
  ' ',
  '-',
  'hello world',
  'ü@ü.de',
  '\u0001',
] as const;
const SPACES = ['', '', '', '', '', '', ' ', '\t', '  \r '];

function keyText(random: Random): string {
  const name = pick(random, NAMES);
  if (random(40) === 0 && name !== '')
    return `"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${JSON.stringify(name.slice(1)).slice(1)}`;
  return JSON.stringify(name);
}

export function randomLine(random: Random): string {
  const space = random(4) === 0 ? (): string => pick(random, SPACES) : (): string => '';
  const object = (depth: number): string => {
    const members = Array.from({ length: random(depth === 0 ? 8 : 4) }, () => {
      const nested = depth < 3 && random(4) === 0;
      const text = (): string =>
        JSON.stringify(Array.from({ length: 1 + random(5) }, () => pick(random, TEXTS)).join(''));
      const escaped = (json: string): string =>
        random(20) === 0 ? json.replace(/[@4B]/, (char) => `\\u00${char.charCodeAt(0).toString(16)}`) : json;
      const value =
        random(8) === 0
          ? escaped(text())
          : nested
            ? random(4) === 0
              ? `[${object(depth + 1)}]`
              : object(depth + 1)
            : pick(random, SCALARS);
      return `${space()}${keyText(random)}${space()}:${space()}${value}${space()}`;
    });
    return `{${members.length === 0 ? space() : ''}${members.join(',')}}`;
  };
  return object(0);
}

const FIELDS = ['a', 'b', 'c', 'req', 'req.id', 'a.b', 'a.b.c', 'b.c', 'level', 'msg', 'é'].map((name) =>
  /^[a-z.]+$/.test(name) ? name : `['${name}']`,
);
const LITERALS = words`20 1 -5 1.5 0.1 "x" "prod" "" "zz" true false 9007199254740993 "ünï" 123456789012345`;
const KINDS = words`email credit_card bearer_token jwt basic_auth aws_key gcp_key github_token slack_token stripe_key private_key ipv4`;
const TOP = ['a', 'b', 'c', 'req', 'level', 'msg', 'env', 'new'];

function condition(random: Random, depth = 0): string {
  const kind = random(depth < 2 ? 7 : 4);
  if (kind === 4) return `not(${condition(random, depth + 1)})`;
  if (kind > 4) return `(${condition(random, depth + 1)} ${kind === 5 ? 'and' : 'or'} ${condition(random, depth + 1)})`;
  if (kind === 3)
    return `${pick(random, FIELDS)} ${pick(random, ['in', '!in'])} (${pick(random, LITERALS)}, ${pick(random, LITERALS)})`;
  return `${pick(random, FIELDS)} ${pick(random, ['==', '!=', '<', '<=', '>', '>='])} ${pick(random, LITERALS)}`;
}

const GENERAL = [
  'extend c = strcat(tostring(a), b)',
  'extend n = toint(level) + 1',
  'extend a = b, b = a',
  'extend req.id = 5',
  'extend m = a',
  'where isnotnull(a)',
  'where msg contains "x"',
  'project-away re*',
  'project a, c = b',
  'project-away a[].b',
  'project-away b[].c, a[].b[].c',
  'project-keep a[].b, b[].b',
  'extend b[].b = mask(b[].b)',
  'project-away a[].b*, req.a[].b',
  'extend a.b = mask(a.b)',
  'extend a.b.c = mask(a.b.c), req.id = redact(req.id)',
  'project-keep a.b, level',
  'extend up = toupper(msg)',
];

function step(random: Random): string {
  switch (random(9)) {
    case 0:
    case 1:
      return `where ${condition(random)}`;
    case 2:
      return `project-away ${pick(random, FIELDS)}${random(2) === 0 ? `, ${pick(random, FIELDS)}` : ''}`;
    case 3:
    case 4:
      return `extend ${pick(random, TOP)} = ${pick(random, LITERALS)}${random(3) === 0 ? `, ${pick(random, TOP)} = ${pick(random, LITERALS)}` : ''}`;
    case 5:
      return `project-rename ${pick(random, TOP)} = ${pick(random, TOP)}`;
    case 7: {
      const name = pick(random, ['msg', 'a', 'b']);
      return `extend ${name} = redact(${name}, "${pick(random, KINDS)}", "${pick(random, KINDS)}")`;
    }
    case 6:
      return `project-keep ${pick(random, TOP)}, ${pick(random, TOP)}`;
    default:
      return pick(random, GENERAL);
  }
}

/** A pipeline that compiles. */
export function randomPipeline(random: Random): { readonly text: string; readonly program: RowProgram } {
  for (;;) {
    const text = Array.from({ length: 1 + random(4) }, () => step(random)).join(' | ');
    try {
      return { text, program: compileRows(text, { from: 'test' }) };
    } catch {
      // Such as a field that is named twice.
    }
  }
}

export function stagesOf(text: string, program = compileRows(text, { from: 'test' })): readonly ShapingStage[] {
  return WAYS.map((only) =>
    createPipelineStage({ program, text, env: {}, onError: 'keep', failed() {}, ...(only ? { only } : {}) }),
  );
}

export interface Outcome {
  readonly lines: readonly string[];
  readonly origins: readonly number[];
}

/** What a stage makes of lines. */
export function outcomeOf(stage: ShapingStage, lines: readonly string[], way: 'list' | 'accepted' = 'list'): Outcome {
  const text = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  const bytes = way === 'list' ? text : inKernel(text);
  let end = 0;
  const ends = Uint32Array.from(lines, (line) => (end += Buffer.byteLength(line) + 1));
  const list = {
    bytes,
    count: lines.length,
    ends,
    origins: Uint32Array.from(lines.keys()),
    subs: new Uint32Array(lines.length),
    areAccepted: way === 'accepted',
  };
  const { list: made } = stage.run(list, CONTEXT) as StageResult;
  checkTables(made, lines.length);
  const starts = [0, ...made.ends];
  return {
    lines: Array.from(made.ends, (to, n) => made.bytes.toString('utf8', starts[n], to)),
    origins: [...made.origins],
  };
}

let region: Region | undefined;

/** Events in a kernel's memory are shaped where they lie. */
function inKernel(bytes: Buffer): Buffer {
  if (!region || region.bytes.length < bytes.length) {
    const size = Math.max(64 * 1024, bytes.length);
    region = createKernel(2 * size).reserve(size);
  }
  bytes.copy(region.bytes);
  return region.bytes.subarray(0, bytes.length);
}

/** Where a stage gives tables by accepted event, they say what its list says. */
function checkTables({ byEvent, all, ends, origins, count }: EventList, events: number): void {
  if (!byEvent || !all) return;
  const end = new Map(Array.from(origins, (event, n) => [event, ends[n]]));
  const runs: Uint32Array[] = [];
  for (let n = 0; n < all.runs.length; n += 3) runs.push(all.runs.subarray(n, n + 3));
  const fates = runs.flatMap(([length, sent, dispositions]) =>
    Array.from({ length: length! }, () => [sent, dispositions]),
  );
  const alike = runs.some(([, sent], n) => n > 0 && sent === runs[n - 1]![1]);
  let last = 0;
  const isRight = Array.from({ length: events }, (_, event) => {
    last = end.get(event) ?? last;
    const sent = Number(end.has(event));
    const isFate = fates[event]?.[0] === sent && fates[event]?.[1] === 1 - sent;
    const isTable = byEvent.sent[event] === sent && byEvent.dispositions[event] === 1 - sent;
    return isFate && isTable && byEvent.ends[event] === last;
  });
  const areWhole = fates.length === events && byEvent.ends.length === events && all.sent === count;
  if (alike || !areWhole || isRight.includes(false)) throw new Error('the tables by event differ from the list');
}

/** Holds the ways to each other; returns how many lines were shaped. Throws with the pipeline and the line that differ. */
export function compareWays(seed: number, lines: number): number {
  const random = seeded(seed);
  let done = 0;
  while (done < lines) {
    const { text, program } = randomPipeline(random);
    const given = Array.from({ length: 40 }, () => randomLine(random));
    const stages = stagesOf(text, program);
    const [bytes, values, objects] = stages.map((stage) => outcomeOf(stage, given));
    for (const [way, outcome] of [
      ['values', values!],
      ['bytes', bytes!],
      ['bytes of accepted events', outcomeOf(stages[0]!, given, 'accepted')],
    ] as const)
      findDifference(way, text, given, objects!, outcome);
    done += given.length;
  }
  return done;
}

function findDifference(way: string, text: string, given: readonly string[], wanted: Outcome, found: Outcome): void {
  for (let n = 0; n < Math.max(wanted.lines.length, found.lines.length); n++) {
    if (wanted.lines[n] === found.lines[n] && wanted.origins[n] === found.origins[n]) continue;
    const origin = Math.min(wanted.origins[n] ?? Infinity, found.origins[n] ?? Infinity);
    throw new Error(
      `the ${way} of "${text}" give another event than its objects do\n line ${given[origin]}\n wanted ${wanted.origins[n] === origin ? wanted.lines[n] : 'nothing'}\n found ${found.origins[n] === origin ? found.lines[n] : 'nothing'}`,
    );
  }
}
