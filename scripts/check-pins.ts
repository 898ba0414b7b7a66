/**
 * Refuses a container image without a digest and an action without a commit, so that moving a tag changes no build, run or test: in
 * Dockerfiles, in YAML (workflows, Compose, Kubernetes, Helm values and templates) and in the examples of the documentation.
 */
import { basename, join } from 'node:path';
import { LineCounter, isMap, isScalar, parseAllDocuments, visit } from 'yaml';
import type { Node, YAMLMap } from 'yaml';
import { lineAt, listFiles, readText } from './files.ts';

/** Images that nobody publishes: built from this repository, and the reader's own application. */
const UNPUBLISHED = new Set(['tailrace', 'app']);
const DIGEST = /@sha256:[0-9a-f]{64}$/;
const COMMIT = /@[0-9a-f]{40}$/;

interface Reference {
  readonly line: number;
  readonly kind: 'image' | 'action';
  readonly name: string;
}

/** All violations under `root`, as `file:line: fault, and the fix`. */
export function checkPins(root: string): string[] {
  return listFiles(root, ['']).flatMap((path) =>
    referencesIn(path, () => readText(root, path))
      .filter((reference) => !isPinned(reference))
      .map(({ line, kind, name }) =>
        kind === 'image'
          ? `${path}:${line}: the image ${name} has no digest: write NAME:TAG@sha256:… with the digest of its index for all platforms`
          : `${path}:${line}: the action ${name} has no commit: write OWNER/NAME@COMMIT # vVERSION`,
      ),
  );
}

function isPinned({ kind, name }: Reference): boolean {
  if (kind === 'action' && !name.startsWith('docker://')) return name.startsWith('./') || COMMIT.test(name);
  return DIGEST.test(name) || UNPUBLISHED.has(name.replace(/:[^/]*$/, ''));
}

function referencesIn(path: string, read: () => string): Reference[] {
  if (/^(?:Docker|Container)file|\.(?:Docker|Container)file$/i.test(basename(path))) return inDockerfile(read());
  if (/\.ya?ml$/.test(path)) return inYaml(read());
  if (path.endsWith('.tpl')) return inTemplate(read());
  return path.endsWith('.md') ? inPage(read()) : [];
}

/** `FROM`, `COPY --from`, `RUN --mount=from=` and `# syntax=`; a name of an earlier stage is no image. */
function inDockerfile(text: string): Reference[] {
  const args = new Map<string, string>();
  const stages = new Set(['scratch']);
  const found: Reference[] = [];
  const add = (index: number, written: string) => {
    const name = written.replace(
      /\$\{?(\w+)(?::?-([^}]*))?\}?/g,
      (_all, arg: string, other = '') => args.get(arg) ?? other,
    );
    if (!stages.has(name.toLowerCase()) && !/^\d+$/.test(name))
      found.push({ line: lineAt(text, index), kind: 'image', name: name || written });
  };
  for (const { 0: line, index } of text.matchAll(/^(?:[^\\\n]|\\\n|\\)+/gm)) {
    const [word = '', ...rest] = line.trim().split(/[\s\\]+/);
    const syntax = /^#\s*syntax\s*=\s*(\S+)/i.exec(line)?.[1];
    if (syntax !== undefined) add(index, syntax);
    const other = rest.filter((each) => !each.startsWith('--'));
    switch (word.toUpperCase()) {
      case 'ARG':
        for (const [, name = '', value = ''] of line.matchAll(/(\w+)=["']?([^\s"']*)/g)) args.set(name, value);
        break;
      case 'FROM':
        add(index, other[0] ?? '');
        if (other[1]?.toUpperCase() === 'AS') stages.add((other[2] ?? '').toLowerCase());
        break;
      case 'COPY':
      case 'ADD':
      case 'RUN':
        for (const each of rest) {
          const from = /^--from=(.+)$/.exec(each)?.[1] ?? /^--mount=(?:.*,)?from=([^,]+)/.exec(each)?.[1];
          if (from !== undefined) add(index, from);
        }
    }
  }
  return found;
}

/** `image` and `uses` at any depth, and `container` of a workflow's job; Helm's `{repository, tag, digest}`, too. */
function inYaml(text: string): Reference[] {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, logLevel: 'silent' });
  // A template of Helm is no YAML.
  if (!Array.isArray(documents) || documents.some(({ errors }) => errors.length > 0)) return inTemplate(text);
  const found: Reference[] = [];
  for (const document of documents) {
    visit(document, {
      Pair(_key, { key, value }) {
        const place = key as Node;
        if (!isScalar(place)) return;
        const add = (kind: Reference['kind'], name: string) =>
          found.push({ line: lines.linePos(place.range![0]).line, kind, name });
        const written = isScalar(value) && typeof value.value === 'string' ? value.value : undefined;
        if (place.value === 'uses' && written !== undefined) add('action', written);
        else if (place.value === 'image' || place.value === 'container') {
          if (isMap(value) && place.value === 'image') add('image', nameOf(value));
          else if (written !== undefined && (place.value === 'image' || document.has('jobs')))
            add('image', written.replace('docker://', ''));
        }
      },
    });
  }
  return found;
}

function nameOf(image: YAMLMap): string {
  const { repository, reference, tag, digest } = image.toJSON() as Record<string, string | undefined>;
  return `${repository ?? reference}${tag ? `:${tag}` : ''}${digest ? `@${digest}` : ''}`;
}

/** Lines of a Helm template; what a template puts in has its name in the values. */
function inTemplate(text: string): Reference[] {
  return [...text.matchAll(/^[ \t-]*["']?(image|uses)["']?:[ \t]*["']?([^\s"'#]+)/gm)]
    .filter(([, , name = '']) => !name.startsWith('{{'))
    .map(({ 1: key, 2: name = '', index }) => ({
      line: lineAt(text, index),
      kind: key === 'uses' ? 'action' : 'image',
      name,
    }));
}

/** The fenced blocks of a page. */
function inPage(text: string): Reference[] {
  return [...text.matchAll(/^(```|~~~)(ya?ml|dockerfile)\n(.*?)^\1/gims)].flatMap(
    ({ 2: language = '', 3: block = '', index }) =>
      (language.toLowerCase() === 'dockerfile' ? inDockerfile(block) : inYaml(block)).map((each) => ({
        ...each,
        line: each.line + lineAt(text, index),
      })),
  );
}

if (import.meta.main) {
  const violations = checkPins(process.argv[2] ?? join(import.meta.dirname, '..'));
  for (const violation of violations) console.log(violation);
  process.exitCode = violations.length > 0 ? 1 : 0;
}
