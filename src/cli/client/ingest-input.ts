/** The files that `tailrace ingest` reads, or stdin: their bytes, counted, and their format. */
import { usageError } from '../output/say.ts';
import { createReadStream, statSync, accessSync, constants } from 'node:fs';
import type { IngestFormat } from '../../client/client.ts';
import { openBody, peek } from '../../client/ingest/open-body.ts';
import { isJson } from '../../core/block.ts';
import { messageOf, TailraceError } from '../../core/errors.ts';

export interface Input {
  /** As messages name it. */
  readonly name: string;
  /** Undefined for anything but a plain file. */
  readonly bytes: number | undefined;
  open(): AsyncIterable<Uint8Array>;
}

/** Throws `UsageError` before anything is sent when one of the files cannot be read. */
export function openInputs(files: readonly string[]): Input[] {
  if (files.length === 0 && process.stdin.isTTY)
    throw usageError(
      'nothing to ingest: no file was named, and stdin is a terminal',
      'name files, or pipe events in: … | tailrace ingest DATASET',
    );
  return (files.length === 0 ? ['-'] : files).map((file) => (file === '-' ? stdinInput() : fileInput(file)));
}

function stdinInput(): Input {
  return { name: 'stdin', bytes: undefined, open: () => process.stdin as AsyncIterable<Uint8Array> };
}

function fileInput(path: string): Input {
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) throw new Error('it is a directory');
    accessSync(path, constants.R_OK);
    return { name: path, bytes: stat.isFile() ? stat.size : undefined, open: () => createReadStream(path) };
  } catch (cause) {
    throw usageError(`cannot read "${path}": ${messageOf(cause)}`, 'nothing was sent; correct the path', cause);
  }
}

const BY_ENDING: ReadonlyMap<string, IngestFormat> = new Map(
  Object.entries({ ndjson: 'ndjson', jsonl: 'ndjson', json: 'json', csv: 'csv' }),
);

/** The text of an input and its format: by its name's ending, else by how it begins. Throws `UsageError` where neither says it. */
export async function openText(
  input: Input,
  given: IngestFormat | undefined,
  onBytes: (bytes: number) => void,
): Promise<{ readonly format: IngestFormat; readonly text: AsyncIterable<Uint8Array> }> {
  const text = readable(openBody(counted(input.open(), onBytes)), input.name);
  const ending = /\.([^.]+?)(?:\.(?:gz|zst))?$/.exec(input.name)?.[1]?.toLowerCase() ?? '';
  const format = given ?? BY_ENDING.get(ending);
  if (format !== undefined) return { format, text };
  const { head, all } = await peek(text, 1);
  return { format: formatOf(head.toString('utf8'), input.name), text: all };
}

/** `head`: what came first. */
function formatOf(head: string, name: string): IngestFormat {
  const start = head.trimStart();
  if (start === '' || start.startsWith('[')) return 'json';
  if (start.startsWith('{')) {
    const [line = '', ...more] = start.split('\n');
    // Of a value over several lines the first one is no JSON.
    return more.length > 0 && !isJson(line) ? 'json' : 'ndjson';
  }
  throw usageError(
    `${name} is neither JSON nor has a name that says what it is`,
    'give --format csv, json or ndjson; lines of plain text are for the agent: `tailrace run` with a stdin or file source',
  );
}

/** What fails while it is read is the file's fault, not the program's. Throws `TailraceError`. */
async function* readable(source: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  try {
    yield* source;
  } catch (cause) {
    throw new TailraceError('E_READ', `cannot read ${name} to its end: ${messageOf(cause)}`, {
      fix: 'what came before is stored; see whether the file is whole and the disk in order',
      cause,
    });
  }
}

async function* counted(
  source: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    onBytes(chunk.length);
    yield chunk;
  }
}
