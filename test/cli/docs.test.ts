/** docs/cli.md, docs/preview.md and docs/archive.md, run: every `sh` block in order in one shell, and where a `text` block follows, its output beside it (`…` is anything). */
import { spawn } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { API_TOKEN, PERSONAL_TOKEN, startLocalService } from '../support/local-service.ts';
import { BINARY } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';

interface Example {
  readonly line: number;
  readonly script: string;
  readonly output: string | undefined;
}

function examplesIn(page: string): Example[] {
  const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```/gms)].map(({ 1: kind = '', 2: text = '', index }) => ({
    kind,
    text,
    index,
  }));
  return blocks.flatMap(({ kind, text, index }, place) => {
    const next = blocks[place + 1];
    const line = page.slice(0, index).split('\n').length;
    return kind === 'sh' ? [{ line, script: text, output: next?.kind === 'text' ? next.text : undefined }] : [];
  });
}

/** Runs `sh` in the folder and resolves with what it printed, both ways. */
function runShell(script: string, folder: string, env: Record<string, string>): Promise<string> {
  const child = spawn('sh', ['-ec', script], { cwd: folder, env: { ...process.env, ...env } });
  let output = '';
  const take = (text: string) => (output += text);
  child.stdout.setEncoding('utf8').on('data', take);
  child.stderr.setEncoding('utf8').on('data', take);
  return new Promise((resolve) => child.on('close', (code) => resolve(`${output}ended with ${code}\n`)));
}

test.each([
  { page: 'docs/cli.md', least: 9 },
  { page: 'docs/preview.md', least: 4 },
  { page: 'docs/archive.md', least: 1 },
])('$page shows what happens', async ({ page, least }) => {
  const examples = examplesIn(readFileSync(join(import.meta.dirname, '../..', page), 'utf8'));
  expect(examples.length).toBeGreaterThanOrEqual(least);
  const folder = makeTree({});
  const service = await startLocalService(folder, 'logs');
  onTestFinished(async () => void (await service.program.end()));
  symlinkSync(BINARY, join(folder, 'tailrace'));
  const mark = (line: number) => `@@ ${line} @@`;
  const script = [...examples, { line: 0, script: '' }]
    .map(({ line, script }) => `echo '${mark(line)}'\n${script}`)
    .join('');
  const printed = await runShell(`exec 2>&1\n${script}`, folder, {
    PATH: `${folder}${delimiter}${process.env['PATH']}`,
    TAILRACE_URL: service.url,
    API_TOKEN,
    PERSONAL_TOKEN,
  });
  const parts = new Map(
    printed
      .split('@@ ')
      .slice(1)
      .map((part) => [Number.parseInt(part, 10), part.slice(part.indexOf('\n') + 1)]),
  );
  expect(printed).toMatch(/ended with 0\n$/);
  for (const { line, output } of examples) {
    if (output === undefined) continue;
    const pattern = output
      .trimEnd()
      .split('…')
      .map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
      .join('.*');
    expect(parts.get(line)?.replaceAll(/ +$/gm, ''), `the example of line ${line}`).toMatch(
      new RegExp(`^${pattern}\n$`),
    );
  }
});
