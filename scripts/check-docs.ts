/**
 * Keeps the prose true: links and anchors resolve, paths, commands, options and metrics named in it exist, every page is linked from
 * somewhere; and no file of the repository names a path of one machine or leaves a note of unfinished work.
 */
import { existsSync, globSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { lineAt, listFiles, readText } from './files.ts';

const TEXT = ['.md', '.ts', '.mjs', '.json', '.yaml', '.service', '.sh', '/run', '/tailrace', '/node'];
const LINK = /\[[^\]\n]*\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g;
const NAMED_PATH = /`((?:src|test|scripts|docs|bench|systemd|bin|packaging|\.ci)\/[\w./*-]*)`/g;
const MACHINE_PATH = /(?<![\w.$}*-])\/(?:root|work)(?:\/|\b(?=["'`\s]))|(?<![\w.])\/home\/(?!\*)[a-z]/g;
const NAMED_METRIC = /\btailrace_[a-z_]+|(?<=`)[a-z_]+_total\b/g;
/** A call of the program in code: the words after its name, up to the end of the line, of the code or of the command. */
const NAMED_CALL = /(?<=[`|(/ ]|^)tailrace(?= [a-z])((?:\\\n|[^\n`|;&#])*)/gm;
/** Pages that a comment points to: by name in the root or below docs, decisions by their number. */
const NAMED_PAGE = /(?<![\w/.])(docs\/adr\/\d{4}|docs\/[\w/-]+\.md|[A-Z]{4,}\.md)/g;
const UNFINISHED = /\b(?:TO[D]O|FIX[M]E|X[X]X)\b/g;

/** All violations under `root`, as `file:line: what`. */
export function checkDocs(root: string): string[] {
  const pages = listFiles(root, ['.md']);
  const texts = new Map(pages.map((page) => [page, readText(root, page)]));
  const linked = new Set<string>();
  const known = readNames(root);
  const violations = pages.flatMap((page) => [
    ...checkLinks(root, page, texts, linked),
    ...checkNamedPaths(root, page, texts.get(page) ?? ''),
    ...checkNamedCalls(page, texts.get(page) ?? '', known),
  ]);
  for (const page of pages) {
    if (page.startsWith('docs/') && !linked.has(page))
      violations.push(`${page}: no other page links to it; add it to docs/README.md`);
  }
  return [...violations, ...checkEveryFile(root)];
}

function checkLinks(root: string, page: string, texts: ReadonlyMap<string, string>, linked: Set<string>): string[] {
  const violations: string[] = [];
  const text = withoutCode(texts.get(page) ?? '');
  for (const match of text.matchAll(LINK)) {
    const target = match[1] ?? '';
    if (/^[a-z]+:/.test(target)) continue;
    const [path = '', anchor] = target.split('#');
    const file = path === '' ? page : normalize(join(dirname(page), path)).replace(/\/$/, '');
    if (file !== page) linked.add(file);
    const where = `${page}:${lineAt(text, match.index)}`;
    if (!existsSync(join(root, file))) violations.push(`${where}: links to ${target}, which is not there`);
    else if (anchor && file.endsWith('.md') && !anchorsOf(texts.get(file) ?? '').has(anchor)) {
      violations.push(`${where}: links to ${target}, but ${file} has no such heading`);
    }
  }
  return violations;
}

/** The history may name removed paths; every other page may not. */
function checkNamedPaths(root: string, page: string, text: string): string[] {
  if (page === 'CHANGELOG.md') return [];
  return [...text.matchAll(NAMED_PATH)]
    .filter((match) => !pathExists(root, match[1] ?? ''))
    .map((match) => `${page}:${lineAt(text, match.index)}: names ${match[1]}, which is not there`);
}

interface Names {
  readonly commands: ReadonlySet<string>;
  readonly options: ReadonlySet<string>;
  readonly metrics: readonly string[];
}

/** What the program calls its commands, options and metrics, as its sources say it. */
function readNames(root: string): Names {
  const textOf = (path: string) => (existsSync(join(root, path)) ? readText(root, path) : '');
  const commandLine = ['program.ts', 'client/commands.ts', 'options/command-options.ts']
    .map((file) => textOf(`src/cli/${file}`))
    .join('');
  const all = (text: string, pattern: RegExp) => new Set([...text.matchAll(pattern)].map((match) => match[1] ?? ''));
  return {
    commands: all(commandLine, /\bcommand\(\s*'([a-z-]+)/g),
    options: all(commandLine, /'(?:-\w, )?(--[a-z-]+)/g),
    metrics: [
      ...listFiles(root, ['.ts'])
        .filter((file) => /^src\/sinks\/\w+\/(?:facts|\w+-type)\.ts$/.test(file))
        .flatMap((file) => [...all(textOf(file), /^ +([a-z]+(?:_[a-z]+)+): \['/gm)]),
      ...all(
        textOf('src/telemetry/metric-table.ts') +
          textOf('src/telemetry/stats.ts') +
          textOf('src/telemetry/metrics.ts') +
          textOf('src/service/http/metrics.ts'),
        /'([a-z]+(?:_[a-z]+)+)'/g,
      ),
    ],
  };
}

/** The history may name removed commands; every other page may not. */
function checkNamedCalls(page: string, text: string, known: Names): string[] {
  if (page === 'CHANGELOG.md') return [];
  const at = (index: number) => `${page}:${lineAt(text, index)}`;
  const calls = codeOf(text).flatMap(({ code, index }) => {
    const found: string[] = [];
    for (const match of code.matchAll(NAMED_CALL)) {
      const [command = '', ...words] = (match[1] ?? '')
        .replace(/'[^']*'|"[^"]*"/g, '…')
        .trim()
        .split(/\s+/);
      const where = at(index + match.index);
      if (!known.commands.has(command))
        found.push(`${where}: names the command tailrace ${command}, which is not there`);
      for (const word of words)
        if (/^--[a-z]/.test(word) && !known.options.has(word))
          found.push(`${where}: names the option ${word} of tailrace ${command}, which is not there`);
    }
    return found;
  });
  const metrics = [...text.matchAll(NAMED_METRIC)]
    .filter(([name]) => !known.metrics.some((metric) => `tailrace_${metric}`.startsWith(name) || metric === name))
    .map((match) => `${at(match.index)}: names the metric ${match[0]}, which is not there`);
  return [...calls, ...metrics];
}

/** Fenced blocks and code in a line, each with its place. */
function codeOf(text: string): { code: string; index: number }[] {
  return [...text.matchAll(/^(```|~~~).*?^\1|`[^`\n]+`/gms)].map((match) => ({ code: match[0], index: match.index }));
}

function pathExists(root: string, path: string): boolean {
  return path.includes('*') ? globSync(path, { cwd: root }).length > 0 : existsSync(join(root, path));
}

function checkEveryFile(root: string): string[] {
  return listFiles(root, ['']).flatMap((file) => {
    if (!TEXT.some((ending) => `/${file}`.endsWith(ending))) return [];
    const text = readText(root, file);
    const find = (pattern: RegExp, say: (found: string) => string | undefined) =>
      [...text.matchAll(pattern)].flatMap((match) => {
        const said = say(match[0]);
        return said === undefined ? [] : [`${file}:${lineAt(text, match.index)}: ${said}`];
      });
    const isCode = /\.(ts|mjs)$/.test(file);
    return [
      ...find(MACHINE_PATH, () => 'names a path of one machine'),
      ...(isCode ? find(UNFINISHED, (word) => `${word}: finish it, or write it down as a known limit`) : []),
      ...(isCode && !file.startsWith('test/')
        ? find(NAMED_PAGE, (page) => (pageExists(root, page) ? undefined : `names ${page}, which is not there`))
        : []),
    ];
  });
}

function pageExists(root: string, page: string): boolean {
  return page.endsWith('.md') ? existsSync(join(root, page)) : globSync(`${page}-*.md`, { cwd: root }).length > 0;
}

/** The anchors that a Markdown page offers, made from its headings as the usual renderers do. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const match of withoutCode(text).matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)) {
    const plain = (match[1] ?? '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
    const slug = plain
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-');
    let unique = slug;
    for (let count = 1; anchors.has(unique); count++) unique = `${slug}-${count}`;
    anchors.add(unique);
  }
  return anchors;
}

/** The text with fenced blocks blanked, line numbers kept. */
function withoutCode(text: string): string {
  return text.replace(/^(```|~~~).*?^\1/gms, (block) => block.replace(/[^\n]/g, ' '));
}

if (import.meta.main) {
  const violations = checkDocs(process.argv[2] ?? join(import.meta.dirname, '..'));
  for (const violation of violations) console.log(violation);
  process.exitCode = violations.length > 0 ? 1 : 0;
}
