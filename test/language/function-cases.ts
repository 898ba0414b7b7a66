/**
 * Results of functions, stated once: a file a topic in `functions/`. Tests hold both engines and the rows to it, and the documentation
 * prints the first case under each name, and those with a source.
 */

import type { FunctionSpec } from '../../src/language/function-spec.ts';

/** Where a rule comes from that is not the language's own, and where the case holds when not in queries and transforms alike. */
export interface CaseNote {
  readonly source?: string;
  readonly only?: 'queries' | 'transforms';
}

/**
 * A text and what it gives. The text is the arguments of a call, an expression with the function in it, or a query, which gives its rows. Fields are
 * those of `CASE_EVENT`.
 */
export type FunctionCase = readonly [text: string, result: unknown, note?: CaseNote];
/** At least one case of each function; a function without one does not compile. */
export type FunctionCases<Table> = Readonly<Record<keyof Table & string, readonly [FunctionCase, ...FunctionCase[]]>>;

/** The event of the cases, as JSON; it never had the field `missing`. */
export const CASE_EVENT = [
  '{"_time":"2026-03-04T05:06:07.089012345Z","text":"Hello, World_wide web","word":"text","empty":"","greek":"Ωμέγα","path":"/api/v1/items"',
  '"n":42,"five":5,"zero":0,"f":2.5,"whole":3.0,"big":9007199254740993,"most":9223372036854775807,"huge":99999999999999999999,"dur":1500000000',
  '"yes":true,"no":false,"gone":null,"list":[1,"two",{"three":[3]},null,true],"items":[1,"x",null],"object":{"inner":{"deep":"x"}},"bag":{"k":1}}',
].join(',');

const QUERY = /^(?:datatable\(|range [a-z])/;

/** A case with its whole text. */
export interface WrittenCase extends CaseNote {
  /** The function, and the name by which the text calls it. */
  readonly name: string;
  readonly called: string;
  readonly text: string;
  readonly isQuery: boolean;
  readonly result: unknown;
}

/** The cases of a topic, in the order of its functions. */
export function writtenCases(
  specs: Readonly<Record<string, FunctionSpec>>,
  cases: Readonly<Record<string, readonly FunctionCase[]>>,
): readonly WrittenCase[] {
  return Object.entries(specs).flatMap(([name, { aliases = [], syntax, only }]) =>
    cases[name]!.map(([text, result, note]): WrittenCase => {
      const isOperator = !syntax.startsWith(`${name}(`);
      const names = [name, ...aliases].flatMap((each) => [each, `${each}if`, `${each}_if`]);
      const called = isOperator ? name : names.find((each) => calls(each, text));
      const whole = called === undefined ? `${name}(${text})` : text;
      return {
        ...(only && { only }),
        ...note,
        name,
        called: called ?? name,
        text: whole,
        isQuery: QUERY.test(whole),
        result,
      };
    }),
  );
}

/** Whether a text calls the function. */
function calls(name: string, text: string): boolean {
  for (let at = text.indexOf(`${name}(`); at >= 0; at = text.indexOf(`${name}(`, at + 1))
    if (!/[\w.]/.test(text[at - 1] ?? '')) return true;
  return false;
}
