/** `tailrace explain PATH`: asks the running agent why a file is or is not read, at which offset, how far behind. */
import { resolve } from 'node:path';
import { askAgent } from '../agent/control.ts';
import { findConfig } from '../config/find.ts';
import { loadConfig } from '../config/load.ts';
import { TailraceError } from '../core/errors.ts';

export interface ExplainArguments {
  readonly config?: string;
  readonly json?: boolean;
}

/** Resolves with 0 when some source reads the file, else 1. Throws `E_NO_AGENT` when no agent runs on the data folder. */
export async function explain(path: string, args: ExplainArguments): Promise<number> {
  const config = loadConfig(findConfig(args.config), process.env);
  const answer = await askAgent(config.dataDir, { command: 'explain', args: [resolve(path)] });
  if (!answer)
    throw new TailraceError('E_NO_AGENT', `no agent runs on the data folder "${config.dataDir}"`, { fix: 'start it with: tailrace run' });
  const explanations = answer.result as Record<string, unknown>[];
  const texts = explanations.map((explanation) =>
    args.json
      ? `${JSON.stringify(explanation)}\n`
      : Object.entries(explanation)
          .map(([key, value]) => `${key.padEnd(12)} ${String(value)}\n`)
          .join(''),
  );
  process.stdout.write(texts.join(args.json ? '' : '\n'));
  return explanations.some(({ state }) => state !== undefined) ? 0 : 1;
}
