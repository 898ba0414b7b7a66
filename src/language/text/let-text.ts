/** `let name = …;`: values, tables, and functions of values. */
import { meaningError } from '../syntax/apl-error.ts';
import { readColumnName, readExpression, readTypeName } from '../syntax/expressions.ts';
import type { Parser } from '../syntax/parser.ts';
import type { LetFunction, LetText } from '../plan/lets.ts';

type Parameters = LetFunction['parameters'];

/** The names of tables known while a text is read. */
export interface TableNames {
  begins(): boolean;
  noteTable(name: string): void;
  noteOption(name: string): void;
}

/**
 * Any number of them, appended to `lets`. Options of the hosted services (`set …;`) do nothing here, and are noted. Without `tables` only
 * values are taken.
 */
export function readLets(parser: Parser, tables?: TableNames, lets: LetText[] = []): LetText[] {
  for (;;) {
    if (parser.accept(';')) continue;
    if (parser.accept('let')) {
      const name = readColumnName(parser, 'a name after let');
      parser.expect('=', 'after the name');
      lets.push(readLet(parser, name, tables));
      parser.made.add(name);
      parser.expect(';', 'after let');
    } else if (parser.accept('declare')) {
      parser.expect('query_parameters', 'after declare');
      parser.expect('(', 'before the parameters');
      const { at } = parser.token;
      lets.push(
        ...parser
          .list(() => readParameter(parser))
          .map(({ name, fallback }) => ({ kind: 'parameter', name, at, fallback }) as const),
      );
      parser.expect(')', 'after the parameters');
      parser.expect(';', 'after the parameters');
    } else if (parser.accept('set')) {
      if (parser.token.kind === 'name') tables?.noteOption(parser.token.text);
      while (!parser.is(';') && parser.token.kind !== 'end') parser.take();
      parser.expect(';', 'after set');
    } else return lets;
  }
}

function readLet(parser: Parser, name: string, tables: TableNames | undefined): LetText {
  // A function without parameters may be called a view.
  const isView = /view\s*\(/y.test(parser.text.slice(parser.token.at));
  if (isView) parser.take();
  if (/\(\s*(?:\)|[A-Za-z_]\w*\s*:)[^{]*\{/y.test(parser.text.slice(parser.token.at)))
    return parser.nested(() => readFunction(parser, name, isView, tables));
  if (!tables?.begins()) return { kind: 'value', name, value: readExpression(parser) };
  const pipeline = parser.subqueries!.read();
  tables.noteTable(name);
  return { kind: 'table', name, pipeline };
}

/** `(a: long, b: string = "x") { … }`. */
function readFunction(parser: Parser, name: string, isView: boolean, tables: TableNames | undefined): LetText {
  parser.expect('(', 'before the parameters');
  const parameters = parser.is(')') ? [] : parser.list(() => readParameter(parser));
  parser.expect(')', 'after the parameters');
  parser.expect('{', 'before the body of the function');
  const inner = readLets(parser, tables);
  const isTable = tables?.begins() === true;
  const body = isTable ? { pipeline: parser.subqueries!.read() } : { value: readExpression(parser) };
  parser.accept(';');
  parser.expect('}', 'after the body of the function');
  if (isTable) tables.noteTable(name);
  return { kind: 'function', name, isView, parameters, inner, body };
}

function readParameter(parser: Parser): Parameters[number] {
  const name = readColumnName(parser, 'the name of a parameter');
  parser.made.add(name);
  parser.expect(':', 'and a type after the name of a parameter');
  if (parser.is('('))
    throw meaningError(
      parser.token.at,
      'a function takes no tables',
      'name the table in its body, or make it a let before',
    );
  const type = readTypeName(parser);
  return { name, type, fallback: parser.accept('=') ? readExpression(parser) : undefined };
}
