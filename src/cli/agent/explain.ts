/** `tailrace explain PATH`: why a file is or is not read, at which offset, how far behind. Asks the running agent; without one it works that out itself. */
import { resolve } from 'node:path';
import { askAgent } from '../../agent/control/control.ts';
import { explainAlone } from '../../agent/control/explain-alone.ts';
import type { Delay } from '../../agent/control/observe.ts';
import { printable } from '../../config/quote.ts';
import { TailraceError } from '../../core/errors.ts';
import type { FileExplanation } from '../../sources/common/explanation.ts';
import type { CopyChange, KnownChange } from '../../sources/file/known/change.ts';
import { FILES_TYPE, sourceTypeOf } from '../../sources/registry.ts';
import { createLog } from '../../telemetry/log.ts';
import { say } from '../output/say.ts';
import { type ConfigArguments, configOf } from './config-arguments.ts';

type Explained = FileExplanation & Delay & { readonly source: string };

/** Resolves with 0 when some source reads the file, or will, else 1. Throws `TailraceError`. */
export async function explain(given: string, args: ConfigArguments): Promise<number> {
  const config = configOf(args);
  if (!config.sources.some((source) => sourceTypeOf(source).files))
    throw new TailraceError('E_NO_FILES', 'the configuration has no source that reads files', {
      fix: `add a source with type: ${FILES_TYPE}`,
    });
  const path = resolve(given);
  const answer = await askAgent(config.dataDir, { command: 'explain', args: [path] });
  if (!answer && !args.json) say(`no agent runs on "${config.dataDir}": this is what one that starts will do`);
  const explained = answer
    ? (answer.result as Explained[])
    : await explainAlone(config, path, await createLog({ level: 'warn' }));
  process.stdout.write(
    args.json
      ? explained.map((each) => `${JSON.stringify(each)}\n`).join('')
      : printableText([path, ...explained.flatMap(toLines)]),
  );
  return explained.some(({ isRead }) => isRead) ? 0 : 1;
}

function positionText({ size, lagBytes, isCompressed, compressedOffset }: Explained, at: number): string {
  if (isCompressed && compressedOffset === undefined) return `${at} in its content`;
  if (isCompressed)
    return `${at} in its content; ${compressedOffset} of ${size} compressed bytes, ${leftText(lagBytes)}`;
  return `${at}${size === undefined ? '' : ` of ${size} bytes, ${leftText(lagBytes ?? Math.max(0, size - at))}`}`;
}

function leftText(bytes: number | undefined): string {
  return bytes === 0 ? 'read to its end' : `${bytes} not read yet`;
}

const CHANGES: Readonly<Record<string, string>> = {
  continued: 'none: it is the file that was read before',
  renamed: 'renamed',
  truncated: 'truncated: its new content is read from the beginning',
  replaced: 'replaced by another file',
  deleted: 'deleted: the rest is read through the open file',
  gone: 'gone from its folder',
  away: 'its file system is away',
  undecided: 'undecided: the next scan decides',
  copied: 'copied by a rotation: its original is read on in the copy',
  'short copy': 'a copy that was made before its original was read to the end',
  'read copy': 'a copy whose bytes were read from its original',
  'original truncated': 'a copy of a file that was truncated since',
  'original changed': 'a copy of a file whose content was changed since',
  new: 'none: it is new to the agent',
} satisfies Record<KnownChange | CopyChange, string>;

function printableText(lines: readonly string[]): string {
  return lines.map((line) => `${printable(line)}\n`).join('');
}

function toLines(each: Explained): string[] {
  const { offset, savedOffset, deliveredOffset, headBytes = 0, headHash = '', firstPath, currentPath } = each;
  const at = offset ?? savedOffset;
  const facts: Record<string, string | undefined> = {
    'to do': each.fix,
    'last error': each.lastError,
    'link to': each.linkTo,
    state: each.state,
    'last change': each.lastChange && (CHANGES[each.lastChange] ?? each.lastChange),
    position: at === undefined ? undefined : positionText(each, at),
    saved:
      savedOffset === undefined
        ? undefined
        : `${savedOffset}, where reading goes on after a restart${savedOffset > (deliveredOffset ?? savedOffset) ? '; what is not delivered before it is sent again' : ''}`,
    delivered: deliveredOffset === undefined ? undefined : `up to ${deliveredOffset}`,
    "events' file": firstPath,
    'now at': currentPath === firstPath ? undefined : currentPath,
    identity: each.inode === undefined ? undefined : `device ${each.device}, inode ${each.inode}`,
    fingerprint: headBytes === 0 ? undefined : `SHA-256 of the first ${headBytes} bytes: ${headHash}`,
    stream: each.stream,
  };
  const lines = Object.entries(facts).flatMap(([name, value]) =>
    value === undefined ? [] : [`    ${name.padEnd(13)}${value}`],
  );
  const { waiting, paused = [] } = each;
  if (waiting) {
    const { sink, dataset, reason, seconds, failure } = waiting;
    const why = failure === undefined ? reason : `${reason}; ${failure}`;
    lines.push(`    ${'waits'.padEnd(13)}${Math.round(seconds)} s for sink "${sink}", dataset "${dataset}": ${why}`);
  }
  for (const { sink, dataset, detail, fix } of paused)
    lines.push(`    ${'paused'.padEnd(13)}sink "${sink}", dataset "${dataset}": ${detail}; ${fix}`);
  for (const beside of each.related ?? []) {
    const position = beside.offset === undefined ? `${beside.size} bytes` : `${beside.offset} of ${beside.size} bytes`;
    lines.push(`    ${'beside it'.padEnd(13)}${beside.path}: ${beside.state}, ${position}`);
  }
  return [`  source ${each.source} ${each.isRead ? 'reads it' : 'does not read it'}: ${each.reason}`, ...lines];
}
