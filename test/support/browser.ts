/** Debian's Chromium, driven by playwright-core: pages that fail the test on any script error, refused content or accessibility fault. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, expect, onTestFinished } from 'vitest';
import { findProgram } from './installed.ts';

const program = findProgram('chromium');
export const hasChromium = program !== undefined;
/** Beside the name of a suite that is skipped for want of it. */
export const chromiumHint = hasChromium ? '' : ' (needs chromium: apt-get install -y chromium)';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
let browser: Promise<Browser> | undefined;

/** A page in a profile of its own; it closes with the test. `problems` collects what its console calls an error. */
export async function openPage(options: BrowserContextOptions = {}): Promise<{ page: Page; problems: string[] }> {
  browser ??= chromium.launch({ executablePath: program!, args: ['--no-sandbox', '--disable-gpu'] });
  const context = await (await browser).newContext({ viewport: { width: 1280, height: 900 }, ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  return { page, problems };
}

/** Call at the top of a suite: ends the browser after it. */
export function closeBrowserAfterAll(): void {
  afterAll(async () => {
    await (await browser)?.close();
    browser = undefined;
  });
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

/** Fails with each accessibility rule that the page breaks, WCAG 2.2 AA and best practices. */
export async function expectAccessible(page: Page): Promise<void> {
  // Evaluated by the debugger: the page's own policy lets no script in.
  if (await page.evaluate<boolean>(`typeof axe === 'undefined'`)) await page.evaluate(axe);
  // All rules run; what they do not complain of is not described, which took half of the time.
  const { violations } = await page.evaluate<AxeResult>(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => ({ violations }))`,
  );
  expect(
    violations.map(
      ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`,
    ),
  ).toEqual([]);
}

/** Writes a picture for the documentation, only where TAILRACE_PICTURES is set: elsewhere fonts differ. */
export async function takePicture(page: Page, name: string): Promise<void> {
  const folder = process.env['TAILRACE_PICTURES'];
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' });
}
