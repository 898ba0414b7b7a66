/**
 * Holds every type of src to a name of its own, and every class to naming what it needs: it is handed no bag of options that was made for another, is made of few objects, and has no
 * method that only forwards. Prints one line a violation, `file:line: fault, and the fix`, and exits 1 if there is any.
 */
import { dirname, join } from 'node:path';
import { parseSync } from 'rolldown/experimental';
import { lineAt, listFiles, readText } from './files.ts';

/** A class with more objects in its constructor than this is wired by hand to half of the program. */
const MOST_OBJECTS = 7;
/** Functions that make what a class would be. */
const MAKER = /^(?:create|start|open|restore)[A-Z]/;
/** So many properties of one object may come out of a spread. */
const MOST_SPREAD = 3;

/** Classes and functions, or `Class.method`, that need it all the same, each with its reason. At most ten. */
export const REASONS: Readonly<Record<string, string>> = {
  ChangeHandler: 'a change of a file touches every record that is kept of it',
  CompressedReader: 'reads, offers and accounts for a compressed file, as Reader does for a plain one',
  Copies: 'a copy is looked for over every file that is known, and taken up as any other change is',
  Dispatch: 'acts on every kind of answer, by the one table of docs/delivery.md',
  Polling: 'runs all steps of the file source in turn, and holds no state of them',
  TailReader: 'a turn checks a file, reads it, offers its lines and accounts for what is lost',
  Relation: 'a query is a value, and each stage of it a changed copy of the one before',
  Renewal: 'a new generation touches every record that is kept of a file',
  Tracker: 'a scan observes, decides and acts over all that is known of the files',
};

interface Node {
  readonly type: string;
  readonly start: number;
  readonly [key: string]: unknown;
}

/** A file's declarations by name, and where its imports are from. */
interface Scope {
  readonly file: string;
  readonly text: string;
  readonly body: Node;
  readonly declared: Map<string, Node>;
  readonly imported: Map<string, { readonly name: string; readonly file: string }>;
}

/** A node with the file that gives its names their meaning. */
interface Found {
  readonly node: Node;
  readonly scope: Scope;
}

/** All violations under `root`, without those that have a reason, and the reasons that nothing needs any more. */
export function checkClasses(root: string, reasons: Readonly<Record<string, string>> = REASONS): string[] {
  const files = listFiles(root, ['.ts', '.tsx']).filter((file) => /^src\/(?!kernel\/assembly\/)/.test(file));
  const scopes = new Map(files.map((file) => [file, readScope(root, file)]));
  const found = [...scopes.values()].flatMap((scope) => [...findBags(scope, scopes), ...findInClasses(scope, scopes)]);
  const known = new Set(found.map(({ key }) => key));
  return [
    ...findSharedNames(scopes.values()),
    ...found.filter(({ key }) => !Object.hasOwn(reasons, key)).map(({ fault }) => fault),
    ...Object.keys(reasons)
      .filter((key) => !known.has(key))
      .map((key) => `scripts/check-classes.ts: '${key}' is mended; remove it from REASONS`),
  ];
}

interface Violation {
  readonly key: string;
  readonly fault: string;
}

function readScope(root: string, file: string): Scope {
  const text = readText(root, file);
  const body = parseSync(join(root, file), text).program as unknown as Node;
  const declared = new Map<string, Node>();
  const imported: Scope['imported'] = new Map();
  for (const statement of body['body'] as Node[]) {
    const node = (statement['declaration'] as Node | null | undefined) ?? statement;
    const name = nameOf(node['id']);
    if (name !== undefined) declared.set(name, node);
    if (statement.type !== 'ImportDeclaration') continue;
    const from = join(dirname(file), String((statement['source'] as Node)['value']));
    for (const each of statement['specifiers'] as Node[])
      imported.set(nameOf(each['local'])!, { name: nameOf(each['imported']) ?? '', file: from });
  }
  return { file, text, body, declared, imported };
}

const TYPES = /^(?:TS(?:Interface|TypeAlias|Enum)|Class)Declaration$/;

/** Types that are exported under the name of another. Those that stay in their files may share a short name among themselves. */
function findSharedNames(scopes: Iterable<Scope>): string[] {
  const types = [...scopes].flatMap(({ file, text, body }) =>
    (body['body'] as Node[]).flatMap((statement) => {
      const node = (statement['declaration'] as Node | null | undefined) ?? statement;
      const name = TYPES.test(node.type) ? nameOf(node['id']) : undefined;
      return name ? [{ name, isExported: node !== statement, at: `${file}:${lineAt(text, node.start)}` }] : [];
    }),
  );
  return [...Map.groupBy(types, ({ name }) => name).values()].flatMap(([first, ...others]) =>
    others.length === 0 || ![first!, ...others].some(({ isExported }) => isExported)
      ? []
      : others.map(
          ({ name, at }) => `${at}: ${name} is another type in ${first!.at}; say of what it is, or make them one`,
        ),
  );
}

const nameOf = (node: unknown): string | undefined => (node as { name?: string } | null | undefined)?.name;

type Scopes = ReadonlyMap<string, Scope>;

function find(name: string | undefined, scope: Scope, scopes: Scopes): Found | undefined {
  const node = scope.declared.get(name ?? '');
  if (node) return { node, scope };
  const { name: there, file = '' } = scope.imported.get(name ?? '') ?? {};
  const other = scopes.get(file);
  return other && find(there, other, scopes);
}

/** The members of a type that is an interface, a literal, or made of these; none of any other. */
function membersOf(type: Node | undefined, scope: Scope, scopes: Scopes): Map<string, Found> {
  const all = (nodes: readonly Node[]) => nodes.flatMap((node) => [...membersOf(node, scope, scopes)]);
  switch (type?.type) {
    case 'TSTypeLiteral':
    case 'TSInterfaceBody':
      return new Map(
        ((type['members'] ?? type['body']) as Node[]).map((node) => [nameOf(node['key']) ?? '', { node, scope }]),
      );
    case 'TSInterfaceDeclaration':
      return new Map(all([...((type['extends'] as Node[]) ?? []), type['body'] as Node]));
    case 'TSTypeAliasDeclaration':
      return membersOf(type['typeAnnotation'] as Node, scope, scopes);
    case 'TSIntersectionType':
      return new Map(all(type['types'] as Node[]));
    case 'TSTypeReference':
    case 'TSInterfaceHeritage': {
      const name = nameOf(type['typeName'] ?? type['expression']);
      const [first, names] = ((type['typeArguments'] as Node | null)?.['params'] as Node[] | undefined) ?? [];
      if (['Readonly', 'Partial', 'Required'].includes(name ?? '')) return membersOf(first, scope, scopes);
      if (name === 'Omit' || name === 'Pick') {
        const listed = new Set(((names?.['types'] as Node[]) ?? [names]).map(literalOf));
        return new Map([...membersOf(first, scope, scopes)].filter(([each]) => listed.has(each) === (name === 'Pick')));
      }
      const found = find(name, scope, scopes);
      return found && found.node !== type ? membersOf(found.node, found.scope, scopes) : new Map();
    }
    default:
      return new Map();
  }
}

const literalOf = (type: Node | undefined): unknown => (type?.['literal'] as Node | undefined)?.['value'];

/** Whether a value of the type is an object: no text, number, flag, function or list of these. */
function isObject(type: Node | undefined, scope: Scope, scopes: Scopes): boolean {
  switch (type?.type) {
    case 'TSTypeReference': {
      const found = find(nameOf(type['typeName']), scope, scopes);
      if (found?.node.type !== 'TSTypeAliasDeclaration') return true;
      return isObject(found.node['typeAnnotation'] as Node, found.scope, scopes);
    }
    case 'TSUnionType':
      return (type['types'] as Node[]).some((each) => isObject(each, scope, scopes));
    case 'TSArrayType':
      return isObject(type['elementType'] as Node, scope, scopes);
    case 'TSTypeOperator':
    case 'TSParenthesizedType':
      return isObject(type['typeAnnotation'] as Node, scope, scopes);
    default:
      return type?.type.endsWith('Keyword') === false && !/^TS(?:Function|Literal|TemplateLiteral)/.test(type.type);
  }
}

const annotationOf = (node: Node | undefined): Node | undefined =>
  (node?.['typeAnnotation'] as Node | undefined)?.['typeAnnotation'] as Node | undefined;

/** The parameters of a function, or of a class's constructor. */
function parametersOf(node: Node | undefined): Node[] {
  const method = (node?.['body'] as Node | undefined)?.['body'];
  const made =
    node?.type === 'ClassDeclaration'
      ? ((method as Node[]).find((each) => each['kind'] === 'constructor')?.['value'] as Node | undefined)
      : node;
  return ((made?.['params'] as Node[] | undefined) ?? []).map(
    (each) => (each['parameter'] as Node | undefined) ?? each,
  );
}

/** Objects that are given to a class or function by a spread of more than a few of its properties. */
function findBags(scope: Scope, scopes: Scopes): Violation[] {
  const violations: Violation[] = [];
  visit(scope.body, (node, inside) => {
    if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return;
    const name = nameOf(node['callee']);
    // A changed copy of itself is no child.
    if (name === undefined || inside === name) return;
    const isMaker = node.type === 'NewExpression' || MAKER.test(name);
    const callee = find(name, scope, scopes);
    for (const [index, argument] of (node['arguments'] as Node[]).entries()) {
      if (argument.type !== 'ObjectExpression') continue;
      const properties = argument['properties'] as Node[];
      if (!properties.some((each) => isBag(each, isMaker))) continue;
      const given = new Set(properties.map((each) => nameOf(each['key'])));
      const type = annotationOf(parametersOf(callee?.node)[index]);
      // The type of a value, of which this is a changed copy.
      if (callee === undefined || !isWiring(type, callee.scope)) continue;
      const wanted = membersOf(type, callee.scope, scopes);
      const spread = [...wanted.keys()].filter((each) => !given.has(each));
      if (spread.length <= MOST_SPREAD) continue;
      const place = `${scope.file}:${lineAt(scope.text, argument.start)}`;
      violations.push({
        key: name,
        fault: `${place}: ${name} gets ${spread.length} properties by a spread (${spread.join(', ')}); name them, or fewer`,
      });
    }
  });
  return violations;
}

/** Whether a type is made for what one class or function is made of, by its name. */
const isWiring = (type: Node | undefined, scope: Scope): boolean =>
  /(?:Options|Parts|Context)\b/.test(textOf(type, scope));

/** Whether a property spreads something that has a name; for calls that make nothing, one that is named as options. */
function isBag({ type, argument }: Node, isMaker: boolean): boolean {
  if (type !== 'SpreadElement') return false;
  const { type: kind, name, property } = argument as Node;
  const named = kind === 'MemberExpression' ? nameOf(property) : kind === 'Identifier' ? String(name) : undefined;
  return named !== undefined && (isMaker || /options$/i.test(named));
}

function findInClasses(scope: Scope, scopes: Scopes): Violation[] {
  const violations: Violation[] = [];
  for (const [name, node] of scope.declared) {
    if (node.type !== 'ClassDeclaration') continue;
    const objects = parametersOf(node).flatMap((parameter) => {
      const members = membersOf(annotationOf(parameter), scope, scopes);
      const taken = new Set((parameter['properties'] as Node[] | undefined)?.map((each) => nameOf(each['key'])));
      const parts = isWiring(annotationOf(parameter), scope)
        ? [...members]
        : taken.size > 0
          ? [...members].filter(([each]) => taken.has(each))
          : [[nameOf(parameter) ?? '', { node: parameter, scope }] as const];
      return parts.filter(([, each]) => isObject(annotationOf(each.node), each.scope, scopes)).map(([each]) => each);
    });
    if (objects.length > MOST_OBJECTS)
      violations.push({
        key: name,
        fault: `${scope.file}:${lineAt(scope.text, node.start)}: ${name} is made of ${objects.length} objects (${objects.join(', ')}); pass values, or group what belongs together`,
      });
    const promised = [...((node['implements'] as Node[] | undefined) ?? [])].flatMap((each) => [
      ...membersOf({ ...each, type: 'TSInterfaceHeritage' }, scope, scopes).keys(),
    ]);
    for (const method of (node['body'] as Node)['body'] as Node[]) {
      const [key, target] = [nameOf(method['key']) ?? '', forwardedTo(method, scope)];
      if (target === undefined || method['override'] === true || promised.includes(key)) continue;
      if (!isOurs(target.split('.')[1]!, node, scope, scopes)) continue;
      violations.push({
        key: `${name}.${key}`,
        fault: `${scope.file}:${lineAt(scope.text, method.start)}: ${name}.${key} only forwards to ${target}; let callers call that`,
      });
    }
  }
  return violations;
}

const textOf = (node: Node | undefined, { text }: Scope): string =>
  node === undefined ? '' : text.slice(node.start, node['end'] as number);

const FORWARD = /^(?:\{\s*)?(?:return )?(?:await )?(this(?:\.#?\w+)+\.\w+)\(([^()]*)\);?(?:\s*\})?$/;

/** The method of a field that a method calls with its own arguments, and nothing else. */
function forwardedTo(method: Node, scope: Scope): string | undefined {
  const value = method['value'] as Node | null | undefined;
  if (method['kind'] === 'get' || method['kind'] === 'constructor' || !value?.['body']) return undefined;
  const [, target, given = ''] = FORWARD.exec(textOf(value['body'] as Node, scope)) ?? [];
  const own = (value['params'] as Node[]).map((each) => nameOf(each) ?? `...${nameOf(each['argument'])}`);
  return given.replace(/,\s*$/, '').split(/,\s*/).join() === own.join() ? target : undefined;
}

/** Whether a field holds an object of src: a collection of the language or an object of a package is kept from others with reason. */
function isOurs(field: string, node: Node, scope: Scope, scopes: Scopes): boolean {
  const fields = [...((node['body'] as Node)['body'] as Node[]), ...parametersOf(node)];
  const found = fields.find((each) => textOf(each['key'] as Node | undefined, scope) === field);
  const type = annotationOf(found) ?? (found?.['value'] as Node | null | undefined) ?? undefined;
  if (type?.type === 'TSArrayType' || type?.type === 'ArrayExpression') return false;
  const name = nameOf(type?.['typeName'] ?? type?.['callee']);
  return name === undefined || find(name, scope, scopes) !== undefined;
}

/** Visits every node with the name of the class around it. */
function visit(value: unknown, seen: (node: Node, inside: string | undefined) => void, inside?: string): void {
  if (Array.isArray(value)) return value.forEach((each) => visit(each, seen, inside));
  if (typeof value !== 'object' || value === null || value instanceof RegExp) return;
  const node = value as Node;
  if (typeof node.type === 'string') seen(node, inside);
  const within = node.type === 'ClassDeclaration' ? nameOf(node['id']) : inside;
  for (const child of Object.values(node)) visit(child, seen, within);
}

if (import.meta.main) {
  const violations = checkClasses(process.argv[2] ?? join(import.meta.dirname, '..'));
  for (const violation of violations) console.log(violation);
  process.exitCode = violations.length > 0 ? 1 : 0;
}
