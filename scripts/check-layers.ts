/**
 * Holds the walls between the rooms of src: imports point one way, each third-party package enters through few named
 * files, nothing re-exports, nothing is dead. Prints one line a violation and exits 1 if there is any.
 */
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { lineAt, listFiles, readText } from './files.ts';
import {
  clockUsers,
  dataTables,
  deciders,
  homeOf,
  maxFilesInFolder,
  maxLinesInFile,
  maxMutableFields,
  packageDoors,
  relatesLimits,
  rooms,
  runsInBrowsers,
} from './layers.ts';

/** One import of one file. */
interface Import {
  readonly from: string;
  readonly line: number;
  readonly specifier: string;
  readonly typeOnly: boolean;
  readonly reexport: boolean;
}

const STATIC = /^[ \t]*(import|export)\s+(type\s+)?(?:[\w$*{}\s,]*?\sfrom\s*)?(['"])([^'"\n]+)\3/gm;
const DYNAMIC = /(?<!typeof )\bimport\(\s*(['"`])([^'"`\n]+)\1/g;
const FILE_URL = /\bnew URL\(\s*(['"])(\.[^'"\n]+)\1,\s*import\.meta\.url/g;
/** Loaded by an ESM import, these cost 14 MB of memory over `process.getBuiltinModule` (every export is instantiated). */
const DEAR_BUILTINS = new Set(['node:http', 'node:https']);

/** What scripts/pages.ts bundles for browsers. */
const PAGE_ENTRY = /^src\/pages\/\w+\/main\.tsx$/;

/** All violations under `root`, as `file:line: fault, and the fix`. */
export function checkLayers(root: string): string[] {
  const all = listFiles(root, ['.ts', '.tsx']);
  // AssemblyScript has imports of its own kind.
  const files = all.filter((file) => !file.startsWith('src/kernel/assembly/'));
  const sources = files.filter((file) => file.startsWith('src/'));
  const imports = new Map(files.map((file) => [file, importsOf(file, readText(root, file))]));
  const violations: string[] = [];
  for (const file of sources) {
    if (/(^|\/)index\.tsx?$/.test(file))
      violations.push(`${file}: index files are barrels; name the file after what it exports`);
    for (const each of imports.get(file) ?? []) violations.push(...checkImport(root, each));
  }
  return [
    ...violations,
    ...findMutualFolders(sources, imports),
    ...findCrowded(
      root,
      all.filter((file) => file.startsWith('src/')),
    ),
    ...sources.flatMap((file) => findLargeRecords(file, readText(root, file))),
    ...findClockUsers(root, sources),
    ...findDiscriminants(root, sources),
    ...findDead(files, imports),
    ...findUnformatted(root, all),
  ];
}

/** Only tables of data keep lines longer than the formatter's. */
function findUnformatted(root: string, files: readonly string[]): string[] {
  const tables = dataTables.map((path) => new RegExp(`^${path.replace('*', '[^/]+')}$`));
  return files.flatMap((file) => {
    if (file.startsWith('scripts/') || tables.some((table) => table.test(file))) return [];
    const found = /(?:\/\/|\/\*) prettier-ignore\b/.exec(readText(root, file));
    if (found === null) return [];
    return [
      `${file}:${lineAt(readText(root, file), found.index)}: prettier-ignore is for the files of dataTables alone; let the formatter wrap the lines`,
    ];
  });
}

/** Folders that import each other both ways: neither can be understood without the other. */
function findMutualFolders(sources: readonly string[], imports: ReadonlyMap<string, Import[]>): string[] {
  const arrows = new Map<string, string>();
  for (const file of sources) {
    for (const { specifier, line } of imports.get(file) ?? []) {
      if (!specifier.startsWith('.')) continue;
      const [from, to] = [dirname(file), dirname(resolve(file, specifier))];
      if (from !== to && !isLimits(specifier)) arrows.set(`${from} ${to}`, `${file}:${line}`);
    }
  }
  const violations = new Map<string, string>();
  for (const [arrow, place] of arrows) {
    const [from = '', to = ''] = arrow.split(' ');
    const back = arrows.get(`${to} ${from}`);
    if (from < to && back)
      violations.set(
        arrow,
        `${place}: ${from} and ${to} import each other (${back}); imports between folders point one way`,
      );
  }
  return [...violations.values()];
}

const CLOCK_CALL =
  /^(?!\s*(?:\*|\/[/*])).*?\b(Date\.now|performance\.now|setTimeout|setInterval|Math\.random|new Date(?=\(\)))\(/gm;

/** Calls that make a test depend on the machine's speed, or on chance, outside of the files that are known to need them. */
function findClockUsers(root: string, sources: readonly string[]): string[] {
  const violations = new Map<string, string>();
  for (const file of sources) {
    const text = readText(root, file);
    for (const match of text.matchAll(CLOCK_CALL)) {
      const user = Object.keys(clockUsers).find((known) => isIn(file, known));
      violations.set(
        user ?? file,
        `${file}:${lineAt(text, match.index)}: calls ${match[1]}(); take a Clock, or name the file and the reason in scripts/layers.ts`,
      );
    }
  }
  return withoutKnown(root, violations, 'clockUsers', Object.keys(clockUsers));
}

/** The file of a type of source or sink. */
const TYPE_FILE = /^src\/(?:sources|sinks)\/\w+\/(?!source-type|sink-type)(\w+)-type\.ts$/;
/** Values named like a type: files on disk, secrets, where a batch is from. */
const NO_TYPE = String.raw`(?<![!=]|\b(?:stat|secret|token)\??\.kind *|\borigin *|\boriginOf\(\w+\) *)`;
/** The name of a type compared, listed or looked up; and any sink's or source's `type` matched, or looked up in a table. */
const asksFor = (types: string): RegExp => {
  const name = `['"\`](?:${types})['"\`]`;
  const asked = String.raw`\b(?:sink|source)\w*(?:\??\.type\b|\['type'\])`;
  return new RegExp(
    [
      `${NO_TYPE}[!=]==? *${name}|${name} *[!=]==?`,
      `\\bcase ${name}`,
      `\\[\\s*${name}(?:,\\s*${name})*,?\\s*\\]`,
      `\\b\\w*(?:TYPES|Tables)(?:\\??\\.(?:${types})\\b|\\[${name}\\])`,
      `\\btype: *['"]?(?:${types})\\b`,
      `\\[${asked}\\]|${asked}\\??\\.\\w+\\(|\\.(?:test|exec)\\(${asked}\\)`,
      `/(?:sinks|sources)/(\\w+)/\\1-type\\.ts'`,
    ].join('|'),
    'g',
  );
};

/** Questions outside of their rooms which type a source or a sink has: what depends on it belongs into its type. */
function findDiscriminants(root: string, sources: readonly string[]): string[] {
  const types = sources.flatMap((file) => TYPE_FILE.exec(file)?.[1] ?? []);
  if (types.length === 0) return [];
  return sources
    .filter((file) => !/^src\/(?:sources|sinks)\//.test(file))
    .flatMap((file) => {
      const text = readText(root, file);
      return [...text.matchAll(asksFor(types.join('|')))].map(
        ({ 0: asked, index }) =>
          `${file}:${lineAt(text, index)}: asks for a type of source or sink (${asked.replaceAll(/\s+/g, ' ')}); let the type bring what depends on it, in its *-type.ts`,
      );
    });
}

const RECORD = /^(?:export )?(?:abstract )?(?:class|interface) (\w+)[^\n]*\{\n([\s\S]*?)^\}/gm;
const MUTABLE_FIELD = /^ {2}(?!(?:readonly|static|get|set|async) )#?\w+[?!]?(?::| =)/gm;

/** Classes and interfaces with too many fields that change. */
function findLargeRecords(file: string, text: string): string[] {
  return [...text.matchAll(RECORD)].flatMap(({ 1: name, 2: body = '', index }) => {
    const fields = body.match(MUTABLE_FIELD)?.length ?? 0;
    if (fields <= maxMutableFields) return [];
    return [
      `${file}:${lineAt(text, index)}: ${name} has ${fields} fields that change, more than ${maxMutableFields}; group them by what changes together`,
    ];
  });
}

/** Folders with too many files, and files with too many lines. */
function findCrowded(root: string, sources: readonly string[]): string[] {
  const crowded = [...Map.groupBy(sources, dirname)].filter(([, files]) => files.length > maxFilesInFolder);
  const long = sources.filter((file) => readText(root, file).split('\n').length - 1 > maxLinesInFile);
  return [
    ...crowded.map(([folder]) => `${folder}: more than ${maxFilesInFolder} files; sort them into folders`),
    ...long.map((file) => `${file}: more than ${maxLinesInFile} lines; split it by what it does`),
  ];
}

/** Violations that are not on a list of known ones, and entries of the list that are mended. */
function withoutKnown(
  root: string,
  violations: ReadonlyMap<string, string>,
  list: string,
  known: readonly string[],
): string[] {
  const fresh = [...violations].filter(([what]) => !known.includes(what)).map(([, text]) => text);
  if (!existsSync(join(root, 'scripts/layers.ts'))) return fresh;
  const mended = known.filter((what) => !violations.has(what));
  return [...fresh, ...mended.map((what) => `scripts/layers.ts: '${what}' is mended; remove it from ${list}`)];
}

function checkImport(root: string, { from, line, specifier, typeOnly, reexport }: Import): string[] {
  const say = (text: string) => [`${from}:${line}: ${text}`];
  const decider = Object.keys(deciders).find((folder) => from.startsWith(folder));
  const target = specifier.startsWith('.') ? resolve(from, specifier) : specifier;
  if (decider !== undefined && !typeOnly && !target.startsWith(decider) && !deciders[decider]!.includes(target))
    return say(`imports '${specifier}'; ${decider} decides on plain data: import types, or have the fact observed`);
  if (reexport) return say(`re-exports from '${specifier}'; import it where it is used`);
  if (specifier.startsWith('node:')) {
    // The service has fastify and an engine loaded; what counts there is not this.
    if (!DEAR_BUILTINS.has(specifier) || typeOnly || isIn(from, 'src/service/')) return [];
    return say(
      `imports '${specifier}', which costs 14 MB of memory; use process.getBuiltinModule('${specifier}') and a type import`,
    );
  }
  if (!specifier.startsWith('.')) return checkPackage(from, line, specifier);
  if (!existsSync(join(root, target))) return say(`imports '${specifier}', which is not there`);
  if (!target.startsWith('src/')) return say(`imports '${specifier}'; src imports nothing outside src`);
  const [room, other] = [roomOf(from), roomOf(target)];
  // Limits import limits alone, so they close no circle and count for no arrow.
  const impure =
    isLimits(from) && !isLimits(target) ? say(`imports '${specifier}'; limits.ts imports nothing but limits`) : [];
  if (room === other || (from === relatesLimits && isLimits(target))) return impure;
  const allowed = rooms[room];
  if (!allowed) return say(`'${room}' is no known room; add it to scripts/layers.ts`);
  if (!allowed.includes(other))
    return say(`${room} imports ${other} ('${specifier}'); it may import only: ${allowed.join(', ') || 'nothing'}`);
  if (room === 'pages' && !typeOnly && !runsInBrowsers.some((place) => isIn(target, place)))
    return say(`imports '${specifier}', which does not run in a browser; import its types only`);
  return impure;
}

/** A room's table of bounds. */
function isLimits(path: string): boolean {
  return path.endsWith('/limits.ts');
}

function checkPackage(from: string, line: number, specifier: string): string[] {
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  const doors = packageDoors[name];
  if (!doors) return [`${from}:${line}: '${name}' has no door; name the file it enters through in scripts/layers.ts`];
  if (doors.some((door) => isIn(from, door))) return [];
  return [`${from}:${line}: '${name}' enters only through ${doors.join(', ')}`];
}

/** The program, and files that only other programs import. */
const exported = ['src/main.ts', 'src/shaping/script/transform.ts'];

/** Files in src that neither the program nor a test, benchmark or script reaches. */
function findDead(files: readonly string[], imports: ReadonlyMap<string, Import[]>): string[] {
  const reached = new Set<string>();
  const queue = files.filter((file) => !file.startsWith('src/') || exported.includes(file) || PAGE_ENTRY.test(file));
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    for (const { specifier } of imports.get(file) ?? []) {
      if (specifier.startsWith('.')) queue.push(resolve(file, specifier));
    }
  }
  return files.filter((file) => !reached.has(file)).map((file) => `${file}: nothing imports it`);
}

function importsOf(from: string, text: string): Import[] {
  const found: Import[] = [];
  for (const match of text.matchAll(STATIC)) {
    const [all, keyword, type, , specifier] = match;
    const bindings = /\{([^}]*)\}/.exec(all)?.[1];
    const onlyTypes =
      bindings !== undefined &&
      !/^\s*import\s+\w/.test(all) &&
      bindings.split(',').every((each) => /^\s*(type\s.*)?$/s.test(each));
    const typeOnly = type !== undefined || onlyTypes;
    found.push({
      from,
      line: lineAt(text, match.index),
      specifier: specifier ?? '',
      typeOnly,
      reexport: keyword === 'export',
    });
  }
  for (const pattern of [DYNAMIC, FILE_URL]) {
    for (const match of text.matchAll(pattern)) {
      const specifier = match[2] ?? '';
      if (pattern === FILE_URL && !specifier.endsWith('.ts')) continue;
      found.push({ from, line: lineAt(text, match.index), specifier, typeOnly: false, reexport: false });
    }
  }
  return found;
}

function resolve(from: string, specifier: string): string {
  return normalize(join(dirname(from), specifier));
}

/** The room of a file: its folder under src, or its own name where it lies in src itself (`main`). */
function roomOf(file: string): string {
  const [, room = '', folder] = homeOf(file).split('/');
  return Object.hasOwn(rooms, `${room}/${folder}`) ? `${room}/${folder}` : room.replace(/\.ts$/, '');
}

/** Whether a file is the place, or in the folder (with a slash) that it names. */
function isIn(file: string, place: string): boolean {
  const home = homeOf(file);
  return home === place || (place.endsWith('/') && home.startsWith(place));
}

if (import.meta.main) {
  const violations = checkLayers(process.argv[2] ?? join(import.meta.dirname, '..'));
  for (const violation of violations) console.log(violation);
  process.exitCode = violations.length > 0 ? 1 : 0;
}
