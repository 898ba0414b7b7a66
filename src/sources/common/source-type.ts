/**
 * What a type of source brings: its keys, and all that the agent and its commands ask of it. Each type fills one of these in its own
 * folder and has a line in sources/registry; nothing else asks which type a source has. Programs load a type's own modules when it is used.
 */
import type { Readable } from 'node:stream';
import type { Context } from '../../config/fields/context.ts';
import type { FieldDrafts, FieldTable, FieldValues } from '../../config/fields/field.ts';
import type { ListenAddress } from '../../config/fields/kinds-listen.ts';
import type { PathReport } from '../../config/fields/path-report.ts';
import type { Finding, SecretFile } from '../../config/findings.ts';
import type { Lane, Region } from '../../core/block.ts';
import type { FileExplanation } from './explanation.ts';
import type { Log } from '../../core/log.ts';
import type { PrivateFiles, Source, SourceContext, SourceStats } from '../../core/source.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import type { FoundFiles } from '../file/scan/find-files.ts';
import type { CommonSourceConfig } from './source-fields.ts';

/** `T`: its keys; `C`: a source of it in a checked configuration. */
export interface SourceType<T extends FieldTable = FieldTable, C extends CommonSourceConfig = CommonSourceConfig> {
  /** The id that config.example.yaml gives it. */
  readonly exampleId: string;
  /** What it does, as documentation of `type`. */
  readonly doc: string;
  /** Its keys, beside `type` and those of every source. */
  readonly fields: T;
  /** What a checked configuration has of these keys. */
  derive(values: FieldValues<T>, context: Context): Omit<C, keyof CommonSourceConfig | 'type'>;
  /** Formats and `multiline` make events of its bytes: `fields` has the line fields. */
  readonly readsLines: boolean;
  /** Its sources have `reread`: batches are rebuilt after a restart. What others read goes to the disk buffer. */
  readonly isRereadable: boolean;
  /** An input of the process, by name, which one source has until it ends: `standard input`. */
  readonly onlyInput?: string;
  /** Kernel memory for its windows. */
  windowBytes(config: C): number;
  create(config: C, context: SourceContext, kernel: Kernel): Promise<Source>;

  /** Rules between its keys. */
  checkKeys?(source: LocatedDraft<T>, at: PathReport): void;
  /** The addresses of its key `listen`, which no other source may have. */
  listens?(draft: FieldDrafts<T>): readonly (ListenAddress | undefined)[];
  /** Names of fields that it adds to every event, beside `fields`. */
  addedFields?(draft: FieldDrafts<T>): readonly string[];
  /** `what` as in "it is the tls.key". */
  secretFiles?(config: C): readonly SecretFile[];
  /** What `tailrace check` finds on this machine. Reads, and changes nothing. */
  check?(config: C, machine: Machine): Promise<readonly Finding[]>;
  /** Something that both would read, such as a path. */
  sharedInput?(one: C, other: C): Promise<string | undefined>;
  /** Reads inputs as a source would; absent where `tailrace preview` has nothing to read. */
  preview?(config: C, tools: PreviewTools): Promise<PreviewReader>;
  /** Of a type that reads files. */
  readonly files?: SourceTypeFiles<C>;
  /** The keys of a source that reads nothing of its own, on one line: presets are tried with it. */
  readonly trial?: string;
  /** What `tailrace init` says of a source of these globs. */
  remark?(include: readonly string[]): readonly string[];
  /** What `tailrace init` proposes. `paths`: those that the user named; `files`: the log files that were found. */
  propose?(paths: readonly string[], files: readonly { readonly path: string }[]): Proposal | undefined;
}

export interface LocatedDraft<T extends FieldTable> {
  /** `sources.app`. */
  readonly path: string;
  readonly draft: FieldDrafts<T>;
}

export interface Machine {
  readonly privateFiles: PrivateFiles;
  /** Holds the largest receive buffer that the kernel grants. */
  readonly rmemMaxFile: string;
}

export interface PreviewTools {
  readonly kernel: Kernel;
  readonly lane: Lane;
  readonly log: Log;
  /** For each input anew, so that inputs share memory: reserves the same regions in the same order. */
  readonly restart: () => (bytes: number) => Region;
}

export interface PreviewReader {
  /** Of the inputs so far. */
  readonly stats: readonly SourceStats[];
  /** Reads one input to its end; by default standard input. `path`: that of its file. */
  read(input?: Readable, path?: string): Promise<void>;
  /** An event's input as text, without its last line ending. */
  textOf(event: { readonly input: Buffer; readonly offset: number }): string;
}

export interface SourceTypeFiles<C> {
  /** True where the patterns lead to the path. */
  matches(config: C, path: string): Promise<boolean>;
  /** What they lead to now. */
  find(config: C, privateFiles: PrivateFiles): Promise<FoundFiles>;
  /** True for a file that it finds and does not read. */
  leavesOut(config: C, path: string): Promise<boolean>;
  /** Why the path is or is not read, as the source that runs would say it. Reads no events. */
  explain(
    config: C,
    path: string,
    known: Pick<SourceContext, 'streams' | 'privateFiles' | 'log'>,
  ): Promise<FileExplanation>;
}

export interface Proposal {
  /** The source's id. */
  readonly id: string;
  /** Its entry in `sources`, with comments. */
  readonly entry: readonly string[];
  /** For people, in a line or two. */
  readonly text: string;
}
