/** From a file to a checked `Config`, or to every problem it has, each with its place. No content of a file throws anything else. */
import { dirname, resolve } from 'node:path';
import { buildConfig, dataDirOf, transformsIn } from './build.ts';
import { ConfigError, orderProblems } from '../config-error.ts';
import type { ConfigProblem } from '../config-error.ts';
import { ConfigTexts, type ConfigPosition } from './config-texts.ts';
import { parseYaml } from '../yaml/document.ts';
import type { ReportProblem, YamlMap, YamlNode, YamlScalar } from '../yaml/document.ts';
import type { Environment } from '../yaml/expand.ts';
import { finish, readTable } from '../fields/field.ts';
import type { FieldReading } from '../fields/field.ts';
import { judgeConfig, reportWrongLevel } from './wrong-level.ts';
import { includeFiles } from './include-files.ts';
import type { Config } from '../model.ts';
import type { TransformConfig } from '../values.ts';
import { expandPresets, NO_PRESETS, type OwnPresets } from '../presets/preset.ts';
import { type IncludeOptions, writableProblem } from './included-file.ts';
import { presetTestsOf, readOwnPresets } from './own-presets.ts';
import { printable } from '../quote.ts';
import { readTextFile } from './read-text.ts';
import { expandMemory } from './small-memory.ts';
import { writtenOf } from './written.ts';
import { checkLines } from '../../sources/common/check-lines.ts';
import { checkRelations } from '../rules/relations.ts';
import type { PathReport } from '../fields/path-report.ts';
import { agentTable } from '../tables/schema.ts';
import { textPlaces } from '../yaml/text-places.ts';

/** Reads and checks a configuration. Throws `ConfigError` with all problems; `file` may be relative. */
export function loadConfig(file: string, env: Environment): Config {
  return configIn(readConfig(file, env));
}

/** The same for commands that only read the data folder: without the secrets, whose variables need not be set. */
export function loadWithoutSecrets(file: string, env: Environment): Config {
  return configIn(readConfig(file, env, { leavesSecrets: true }));
}

function configIn({ config, problems }: ReadConfig): Config {
  if (config === undefined) throw new ConfigError(problems);
  return config;
}

/** The results for `tailrace check` besides the configuration itself. There are problems exactly when `config` is missing. */
export interface ReadConfig {
  readonly config: Config | undefined;
  readonly problems: readonly ConfigProblem[];
  /** Known for a configuration with problems, too, as long as `data_dir` can be read. */
  readonly dataDir: string | undefined;
  /** Those of its transforms that could be read, whatever else is wrong. */
  readonly transforms: readonly TransformConfig[];
  /** Settings that work but are likely mistakes. */
  readonly warnings: readonly ConfigProblem[];
  /** Those of `presets.d`. */
  readonly presets: OwnPresets;
  /** Paths of the files that it is read from, and patterns of those that would belong to it; not of scripts. */
  readonly paths: readonly string[];
  /** The place of the value of a path such as `sinks.store.token_file` or `sources.app.include.0`. */
  locate(path: string): ConfigPosition;
  /** The place of a character of the text at a path. */
  locateIn(path: string, index: number): ConfigPosition;
  /** Problems by file and place, and not more than a person reads. */
  order(problems: readonly ConfigProblem[]): ConfigProblem[];
}

/** Like `loadConfig`, with warnings and places, and nothing thrown. */
export function readConfig(file: string, env: Environment, { leavesSecrets = false } = {}): ReadConfig {
  const read = readTextFile(file);
  if (!('text' in read)) {
    const { line, column, message, fix } = read;
    const nothing = {
      config: undefined,
      dataDir: undefined,
      transforms: [],
      warnings: [],
      presets: NO_PRESETS,
      paths: [file],
    };
    const place = () => ({ file, line, column });
    return {
      ...nothing,
      problems: [{ ...place(), message, fix }],
      locate: place,
      locateIn: place,
      order: (problems) => [...problems],
    };
  }
  return new Loader(file, read.text, read.mode, env, leavesSecrets).load();
}

/** Reads a configuration that is not in a file, without secrets. Throws `ConfigError` with all problems. */
export function loadConfigText(text: string, env: Environment, presets: OwnPresets = NO_PRESETS): Config {
  return configIn(new Loader('tailrace.yaml', text, 0, env, true, presets).load());
}

class Loader {
  readonly #file: string;
  readonly #text: string;
  readonly #texts: ConfigTexts;
  readonly #reading: FieldReading;
  readonly #places = new Map<string, { keyAt: number; valueAt: number }>();
  readonly #scalars = new Map<string, YamlScalar>();
  readonly #problems: ConfigProblem[] = [];
  readonly #warnings: ConfigProblem[] = [];
  readonly #told = new Set<string>();
  readonly #given: OwnPresets | undefined;
  #presets: OwnPresets = NO_PRESETS;
  #dataDir: string | undefined;
  #transforms: readonly TransformConfig[] = [];

  /** Without `presets`, those of users are looked for beside the file. */
  constructor(
    file: string,
    text: string,
    mode: number,
    env: Environment,
    leavesSecrets: boolean,
    presets?: OwnPresets,
  ) {
    this.#file = file;
    this.#given = presets;
    this.#text = text;
    this.#texts = new ConfigTexts(file, text, mode);
    this.#reading = {
      env,
      leavesSecrets,
      report: this.#report,
      note: (path, keyAt, valueAt) => this.#places.set(path, { keyAt, valueAt }),
      noteText: (path, node) => this.#scalars.set(path, node),
    };
  }

  load(): ReadConfig {
    const config = this.#read();
    const ok = this.#problems.length === 0;
    const locate = (path: string): ConfigPosition => this.#texts.locate(this.#place(path).valueAt);
    const locateIn = (path: string, index: number): ConfigPosition => {
      const text = this.#scalars.get(path);
      return text ? this.#texts.locate(text.at + textPlaces(text.source, String(text.value))(index)) : locate(path);
    };
    const files = this.#texts.order();
    const order = (problems: readonly ConfigProblem[]): ConfigProblem[] => orderProblems(problems, files);
    const [dataDir, presets, transforms] = [this.#dataDir, this.#presets, this.#transforms];
    const [problems, warnings, { paths }] = [order(this.#problems), order(this.#warnings), this.#texts];
    return {
      config: ok ? config : undefined,
      problems,
      warnings,
      dataDir,
      transforms,
      presets,
      paths,
      locate,
      locateIn,
      order,
    };
  }

  #read(): Config | undefined {
    const root = parseYaml(this.#text, this.#report, judgeConfig(this.#reading.env));
    const main = this.#rootMap(root);
    if (main === undefined || this.#isAtWrongLevel(main)) return undefined;
    const options: IncludeOptions = {
      file: this.#file,
      texts: this.#texts,
      reading: this.#reading,
      warn: this.#warn,
      refuse: (problem) => this.#problems.push(problem),
    };
    const included = includeFiles(main, options);
    const { keys, rows } = this.#given ? { keys: this.#given, rows: [] } : readOwnPresets(options);
    this.#presets = keys;
    const map = expandMemory(expandPresets(included, keys, this.#report), this.#reading);
    this.#warnOfDollars(map);
    const open = writableProblem(this.#file, this.#texts.partAt(0).mode);
    if (open) this.#warn(0, `the configuration ${open.message}`, open.fix);
    const agent = readTable(agentTable, map, '', this.#reading);
    this.#dataDir = dataDirOf(agent.data_dir, this.#reading.env, dirname(resolve(this.#file)));
    this.#transforms = transformsIn(agent, dirname(resolve(this.#file)));
    checkRelations(agent, this.#pathReport(), this.#reading.env);
    for (const row of rows) checkLines(row, this.#pathReport());
    if (this.#problems.length > 0) return undefined;
    const { hash } = this.#texts;
    const folderOf = (path: string): string => dirname(resolve(this.#texts.partAt(this.#place(path).keyAt).file));
    const written = { file: resolve(this.#file), hash, written: writtenOf(map) };
    return buildConfig(written, this.#reading.env, finish(agentTable, agent), folderOf, presetTestsOf(rows));
  }

  #isAtWrongLevel(main: YamlMap): boolean {
    const known = this.#problems.length;
    if (!reportWrongLevel(this.#text, main, known, this.#reading.env, this.#report)) return false;
    // Those before followed from it.
    this.#problems.splice(0, known);
    return true;
  }

  #rootMap(root: YamlNode | undefined): YamlMap | undefined {
    if (root?.kind === 'map') return root;
    if (this.#problems.length > 0) return undefined;
    const isEmpty = root === undefined || (root.kind === 'scalar' && root.value === null);
    const fix = 'write at least `sources:` and `sinks:`, or start from config.example.yaml';
    this.#report(
      root?.at ?? 0,
      isEmpty ? 'the configuration is empty' : 'the configuration must be a mapping of keys',
      fix,
    );
    return undefined;
  }

  /** `$NAME` is a variable elsewhere. The value may be a secret, and is not shown. */
  #warnOfDollars(node: YamlNode): void {
    if (node.kind === 'map') for (const { value } of node.entries) this.#warnOfDollars(value);
    else if (node.kind === 'list') for (const item of node.items) this.#warnOfDollars(item);
    else if (typeof node.value === 'string' && /^\$[A-Za-z_]\w*(?:$|\/)/.test(node.value)) {
      const fix = 'write `${NAME}` with braces, or `$$` where the dollar itself is meant';
      this.#warn(node.at, 'a `$` without braces is not a variable: the text is used as it is', fix);
    }
  }

  #publicFileOf(path: string): string | undefined {
    const place = this.#places.get(path);
    if (place === undefined) return undefined;
    const { file, mode } = this.#texts.partAt(place.valueAt);
    const isVariable = this.#texts.startsWith('$', place.valueAt) || this.#texts.startsWith('$', place.valueAt + 1);
    return (mode & 0o004) === 0 || isVariable ? undefined : file;
  }

  #pathReport(): PathReport {
    return {
      atValue: (path, message, fix) => this.#report(this.#place(path).valueAt, message, fix),
      has: (path) => this.#places.has(path),
      atKey: (path, message, fix) => this.#report(this.#place(path).keyAt, message, fix),
      warnAtValue: (path, message, fix) => this.#warn(this.#place(path).valueAt, message, fix),
      warnAtKey: (path, message, fix) => this.#warn(this.#place(path).keyAt, message, fix),
      publicFileOf: (path) => this.#publicFileOf(path),
    };
  }

  #place(path: string): { keyAt: number; valueAt: number } {
    for (let known = path; known !== ''; known = known.slice(0, Math.max(0, known.lastIndexOf('.')))) {
      const place = this.#places.get(known);
      // An absent key has no value to point at: its component's id has to do.
      if (place !== undefined) return known === path ? place : { keyAt: place.keyAt, valueAt: place.keyAt };
    }
    return { keyAt: 0, valueAt: 0 };
  }

  /** Each once: a preset of users is read by itself, and in each source that names it. */
  readonly #report: ReportProblem = (at, message, fix) => {
    const key = `${at} ${message}`;
    if (!this.#told.has(key)) this.#problems.push(this.#problem(at, message, fix));
    this.#told.add(key);
  };

  readonly #warn: ReportProblem = (at, message, fix) => void this.#warnings.push(this.#problem(at, message, fix));

  #problem(at: number, message: string, fix: string | undefined): ConfigProblem {
    const place = this.#texts.locate(at);
    // Most messages quote the file; here none can forget to make the quote safe to print.
    return { ...place, message: printable(message), fix: fix && printable(fix) };
  }
}
