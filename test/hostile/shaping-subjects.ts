/** Every function, operator and kind of redaction that a transform has, from their tables, over bytes, over few values and over whole objects. */
import { FUNCTION_GROUPS, OPERATOR_GROUPS, type ScalarFunction } from '../../src/language/functions/table.ts';
import { QUERY_OPERATORS } from '../../src/language/operators/table.ts';
import { REDACTION_KINDS } from '../../src/shaping/redact/redact.ts';
import { compileRows } from '../../src/shaping/rows/program.ts';
import { outcomeOf, stagesOf } from '../shaping/bytes/agreement.ts';
import { context } from '../shaping/rows/support.ts';
import { FUNCTION_CASES } from '../support/function-cases.ts';
import { words } from '../support/words.ts';
import { quotedJson, type Subject } from './subject.ts';

const FUNCTIONS = [...OPERATOR_GROUPS, ...FUNCTION_GROUPS]
  .flatMap(([, functions]) => functions)
  .filter(({ only }) => only !== 'queries');

/**
 * Constants for the words of a syntax; the first that compiles is taken, else the documented one: a regular expression, a number, a part of
 * a time, a key.
 */
const CONSTANTS = [undefined, '"(a+)b?"', '1', '"day"', '"email"', '1h', 'env("KEY")'];

/** The call as its documentation writes it, with `given` for the words and `constant` for those that have to be constant. */
function written(
  { syntax, args, rest }: ScalarFunction,
  given: string,
  constant: string | undefined,
  isNumber: boolean,
  int: string,
): string {
  let at = 0;
  return syntax
    .replace(/;.*| in transforms.*|, …/gs, '')
    .replaceAll(
      /(?<=[(,] ?)[a-z]+(?=[,)])|^[a-z]+(?= )|(?<= )[a-z]+$|(?<=[(] ?)[a-z]+(?= \.\.)|(?<=\.\. )[a-z]+|'[^']*'|"[^"]*"|\b[\d.]+\b/g,
      (word) => {
        const type = args[at++] ?? rest ?? '';
        const isConstant = type.startsWith('constant') || type.startsWith('secret');
        if (type === 'constant int') return int;
        if (isConstant && constant !== undefined) return constant;
        return isConstant || !(isNumber ? /^[a-z\d]/ : /^[a-z]/).test(word) ? word : given;
      },
    );
}

function compiles(text: string): boolean {
  try {
    compileRows(text, { from: 'test' });
    return true;
  } catch {
    return false;
  }
}

/** What the functions of a row are given of a text. */
const GIVEN = ['m', 'parse_json(m)', 'split(m, " ")'];

function expressionsOf(spec: ScalarFunction): readonly string[] {
  const found = GIVEN.flatMap((given) => {
    const tries = [false, true].flatMap((isNumber) =>
      CONSTANTS.flatMap((constant) => ['1', '2'].map((int) => written(spec, given, constant, isNumber, int))),
    );
    return tries.find((text) => text.includes(given) && compiles(`extend v = ${text}`)) ?? [];
  });
  // Both of two texts come out of an event.
  const pairs = found
    .filter((text) => /\bm\b.*\bm\b/.test(text))
    .flatMap((text) => [text.replace(/\bm\b/, 'n'), text.replace(/\bm\b(?!.*\bm\b)/, 'n')]);
  return [...new Set([...found, ...pairs, ...casesOf(spec.name)])];
}

/** The calls of the cases with the text in the place of each of their texts. */
function casesOf(name: string): readonly string[] {
  const calls = FUNCTION_CASES.map(({ text }) => text).filter((text) => text.startsWith(`${name}(`));
  return calls
    .slice(0, 4)
    .flatMap((call) =>
      [...call.matchAll(/"[^"\\]*"/g)].map(
        ({ 0: text, index }) => `${call.slice(0, index)}m${call.slice(index + text.length)}`,
      ),
    )
    .filter((text) => compiles(`extend v = ${text}`));
}

/** One transform for each operator that works in transforms. */
const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  where: [
    'where m contains "needle" or m == "x"',
    'where a == 1 and not(b == "x")',
    'where m matches regex "(a+)+b"',
    'where m has "needle"',
  ],
  extend: ['extend c = m', 'extend c = 1', 'extend m = "x"', 'extend a.b = m'],
  project: ['project m', 'project a, b = m'],
  'project-away': ['project-away a', 'project-away a.b.c, m*'],
  'project-keep': ['project-keep m', 'project-keep a.b, m*'],
  'project-rename': ['project-rename c = m', 'project-rename a = m'],
  parse: [
    'parse m with * "user=" user " id=" id:long *',
    'parse kind=regex m with a "x+" b',
    'parse kind=relaxed m with a:long "," b:real *',
  ],
  'parse-kv': [
    'parse-kv m as (a, b:long)',
    'parse-kv m as (a, b) with (pair_delimiter=" ", kv_delimiter="=", quote="\\"")',
  ],
  'parse-where': ['parse-where m with * "user=" user " id=" id:long *'],
  'mv-expand': ['extend j = parse_json(m) | mv-expand j limit 10', 'extend j = split(m, ",") | mv-expand j'],
  sample: ['sample 0.5', 'sample 0.5 by m'],
  throttle: ['throttle 2 per 1s by m'],
  dedupe: ['dedupe by m within 1s'],
  to_dataset: ['to_dataset(substring(m, 0, 3))'],
};

/** What a field of a text, and a text that is JSON itself, look like as events. */
const asField = (text: string): string => `{"b":"x","m":${quotedJson(text)},"a":1}`;
const asLine = (text: string): string => {
  try {
    JSON.parse(text);
    return text.startsWith('{') && !text.includes('\n') ? text : asField(text);
  } catch {
    return asField(text);
  }
};

function transformSubjects(name: string, transform: string): Subject[] {
  const stages = stagesOf(transform);
  const subject = (way: string, run: (line: string) => unknown): Subject => ({
    name: `${name}: ${transform} (${way})`,
    run: (text) => run(asLine(text)),
  });
  return [
    ...stages.map((stage, n) =>
      subject(['over bytes', 'over values', 'over objects'][n]!, (line) => outcomeOf(stage, [line])),
    ),
    subject('over bytes where the kernel wrote them', (line) => outcomeOf(stages[0]!, [line], 'accepted')),
  ];
}

function functionSubjects(spec: ScalarFunction): Subject[] {
  const expressions = expressionsOf(spec);
  if (expressions.length === 0 && spec.args.some((type) => !type.startsWith('constant')))
    throw new Error(`no call of ${spec.name} compiles: it may want another constant in CONSTANTS`);
  return expressions.map((expression) => {
    const program = compileRows(`extend v = ${expression}`, { from: 'test' });
    return {
      name: `function ${expression}`,
      run: (text) =>
        ran(() =>
          program.run(
            new Map([
              ['m', text],
              ['n', text.slice(0, text.length >> 1)],
            ]),
            context,
          ),
        ),
    };
  });
}

/** A text that a step refuses, as it may. */
function ran(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    if ((error as { name?: string }).name !== 'TransformError') throw error;
    return undefined;
  }
}

export function shapingSubjects(): readonly Subject[] {
  const names = QUERY_OPERATORS.filter(({ only }) => only !== 'queries').map(({ names: [name] }) => name);
  return [
    ...FUNCTIONS.flatMap(functionSubjects),
    ...names.flatMap((name) => {
      const transforms = OPERATORS[name];
      if (!transforms) throw new Error(`the operator ${name} has no transform here: add one to OPERATORS`);
      return transforms.flatMap((transform) => transformSubjects('operator', transform));
    }),
    ...REDACTION_KINDS.flatMap((kind) => transformSubjects('redaction', `extend m = redact(m, "${kind}")`)),
    ...words`redact mask hash`.flatMap((name) =>
      transformSubjects(
        'hiding',
        name === 'redact'
          ? 'extend m = redact(m)'
          : name === 'mask'
            ? 'extend m = mask(m, 4)'
            : 'extend m = hash(m, env("KEY"))',
      ),
    ),
  ];
}
