/** Shows the findings of `init`, for people and as JSON; and asks the questions on a terminal. */
import { createInterface, type Interface } from 'node:readline/promises';
import { Readable } from 'node:stream';
import { Previewer } from '../../agent/preview/previewer.ts';
import type { Config } from '../../config/model.ts';
import { printable } from '../../config/quote.ts';
import { TailraceError } from '../../core/errors.ts';
import { silentLog } from '../../core/log.ts';
import { plural, say } from '../output/say.ts';
import type { Candidates } from './list-candidates.ts';
import { lookInto, type OpenPath } from './look-into.ts';
import type { Plan, PlannedSource } from './plan.ts';

const EXAMPLES = 3;
const SHOWN_CHARACTERS = 200;
const SHOWN_SKIPPED = 20;

/** The first events of the source as they would be sent, NDJSON. */
export async function examplesOf(config: Config, { id, samples }: PlannedSource, open: OpenPath): Promise<string[]> {
  const source = config.sources.find((each) => each.id === id);
  if (!source) return [];
  const events: string[] = [];
  const record = ({ sent }: { readonly sent: readonly string[] }): void => void events.push(...sent);
  const previewer = await Previewer.create({ config, source, sink: config.sinks[0]!, log: silentLog, record });
  try {
    for (const path of samples) {
      const look = lookInto(path, open);
      if (look.kind === 'log' && events.length < EXAMPLES) await previewer.read(path, Readable.from([look.head]));
    }
  } finally {
    await previewer.close();
  }
  return events.slice(0, EXAMPLES);
}

export function sourceText(
  { id, include, exclude, files, recognised, secrets }: PlannedSource,
  examples: readonly string[],
): string {
  const hidden = secrets.transform()?.reasons ?? [];
  const lines = [
    `${id}: ${plural(files.length, 'file')}`,
    ...include.map((glob) => `  ${glob}`),
    ...exclude.map((path) => `  without ${path}`),
    ...recognised.choices.map(({ entry, reason }) => `  ${entry}  (${reason})`),
    ...recognised.remarks.map((remark) => `  ${remark}`),
    ...hidden.map((reason) => `  hidden: ${reason}`),
    ...examples.map(
      (event) => `    ${event.length > SHOWN_CHARACTERS ? `${event.slice(0, SHOWN_CHARACTERS)}…` : event}`,
    ),
  ];
  return `${lines.map(printable).join('\n')}\n`;
}

export function sourceObject(
  { id, include, exclude, files, recognised, secrets }: PlannedSource,
  examples: readonly string[],
): object {
  const transform = secrets.transform();
  return {
    id,
    include,
    exclude,
    files: files.length,
    recognised: recognised.name,
    choices: recognised.choices,
    remarks: recognised.remarks,
    ...(transform ? { transform: transform.pipeline, hidden: transform.reasons } : {}),
    examples: examples.map((event) => JSON.parse(event) as unknown),
  };
}

/** The files left out, and why. */
export function skippedText({ skipped, unlike }: Plan, found: Candidates): string {
  const all = [...found.skipped, ...skipped];
  const lines = all
    .slice(0, SHOWN_SKIPPED)
    .map(({ path, reason, fix }) => `  ${path}: ${reason}${fix === undefined ? '' : `; ${fix}`}`);
  if (all.length > SHOWN_SKIPPED) lines.push(`  and ${all.length - SHOWN_SKIPPED} more (--json names all)`);
  if (found.rotated > 0)
    lines.push(`  ${plural(found.rotated, 'rotated file')} beside the files: the agent reads those that it had begun`);
  if (unlike > 0) lines.push(`  ${plural(unlike, 'file')} that are like no log`);
  if (found.isCut) lines.push('  there are more files than were checked: name folders');
  return lines.length === 0 ? '' : `Left out:\n${lines.map(printable).join('\n')}\n`;
}

const stopped = (): TailraceError => new TailraceError('E_INIT', 'stopped: nothing was written');

/** Asks on the terminal. Ctrl-C and the end of input reject with `TailraceError`. */
export class Questions {
  readonly #lines: Interface = createInterface({ input: process.stdin, output: process.stderr });
  readonly #ended: Promise<never>;

  constructor() {
    this.#ended = new Promise((_resolve, reject) => {
      const end = (): void => reject(stopped());
      this.#lines.once('SIGINT', end).once('close', end);
    });
    this.#ended.catch(() => {});
  }

  /** An empty answer is `preset`. */
  async ask(question: string, preset: string): Promise<string> {
    const answer = await Promise.race([this.#lines.question(question), this.#ended]);
    return answer.trim() || preset;
  }

  /** Asks until the answer is one of the words, or begins one as its letter; the first is that of Return. `quit` ends as Ctrl-C does. */
  async choose<Word extends string>(question: string, words: readonly [Word, ...Word[]]): Promise<Word> {
    for (;;) {
      const answer = (await this.ask(question, words[0])).toLowerCase();
      const isMeant = (word: string): boolean => answer === word || answer === word[0];
      const chosen = words.find(isMeant);
      if (chosen !== undefined) return chosen;
      if (isMeant('quit')) throw stopped();
      const letters = words.map(([letter]) => letter);
      say(`answer ${letters.slice(0, -1).join(', ')} or ${letters.at(-1)}; q ends without writing anything`);
    }
  }

  close(): void {
    this.#lines.close();
  }
}
