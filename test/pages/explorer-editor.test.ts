/** The explorer's editor in a real browser: colours, suggestions and faults, all without asking the service. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { complete } from '../../src/pages/explorer/editor/complete.ts';
import { findProblem, placeIn } from '../../src/pages/explorer/editor/find-problem.ts';
import { highlight } from '../../src/pages/explorer/editor/highlight.ts';
import { QUERY_OPERATORS } from '../../src/language/operators/table.ts';
import { chromiumHint, closeBrowserAfterAll, expectAccessible, hasChromium } from '../support/browser.ts';
import { localService } from '../support/local-service.ts';
import { explorerOf, field } from './explorer.ts';

const known = {
  datasets: ['app-logs', 'audit'],
  fields: [
    { name: 'status', type: 'integer' },
    { name: 'req id', type: 'string' },
  ],
};
const labelsAt = (text: string): string[] =>
  (complete(text, text.length, known)?.suggestions ?? []).map(({ label }) => label);

test('highlight covers any text, whole or half written, each character once', () => {
  const texts = [
    `['app-logs'] // all\n| where level == "error" and status >= 500 | summarize count() by bin(_time, 1m)`,
    `['unfinished`,
    '\u0000\u202E"\n| take 99999999999999999999 ~ @',
    '',
  ];
  for (const text of texts)
    expect(
      highlight(text)
        .map(({ at, end }) => text.slice(at, end))
        .join(''),
    ).toBe(text);
  const kinds = highlight(texts[0]!).map(({ kind, at, end }) => [texts[0]!.slice(at, end).trim(), kind]);
  for (const expected of [
    ["'app-logs'", 'string'],
    ['// all', 'comment'],
    ['where', 'operator'],
    ['and', 'keyword'],
    ['500', 'number'],
    ['count', 'function'],
    ['1m', 'number'],
  ])
    expect(kinds).toContainEqual(expected);
  // What a query may begin with in place of a dataset.
  const first = (text: string) => highlight(text)[0]!.kind;
  expect(['union a', 'range x from 1 to 2 step 1', 'let x = 1; a', 'logs | count'].map(first)).toEqual([
    'operator',
    'operator',
    'operator',
    'plain',
  ]);
});

test('suggestions fit their place: datasets, every operator, fields, functions, and none inside a text', () => {
  expect(labelsAt(`['a`)).toEqual(['app-logs', 'audit']);
  expect(labelsAt('aud')).toEqual(['audit']);
  expect(labelsAt('un')).toEqual(['union']);
  expect(labelsAt('let x = 1; ra')).toEqual(['range']);
  const operators = QUERY_OPERATORS.filter(({ only }) => only !== 'transforms');
  for (const { names } of operators) expect(labelsAt(`['x'] | ${names[0].slice(0, 3)}`)).toContain(names[0]);
  expect(labelsAt(`['x'] | where sta`)).toEqual(expect.arrayContaining(['status', 'startswith']));
  expect(labelsAt(`['x'] | summarize perc`)).toContain('percentile');
  expect(labelsAt(`['x'] | where perc`)).not.toContain('percentile');
  expect(labelsAt(`['x'] | extend total = 1 | where tot`)).toContain('total');
  expect(labelsAt(`['x'] | where message == "sta`)).toEqual([]);
  expect(labelsAt(`['x'] // sta`)).toEqual([]);
  const quoted = complete(`['x'] | where req`, 17, known)!.suggestions[0];
  expect(quoted).toMatchObject({ label: 'req id', insert: `['req id']` });
});

test('a fault is found at its place without the service, and the place that the service names is the same', () => {
  const text = `['x']\n| where status == 1\n| wher level`;
  const { at, end, message } = findProblem(text)!;
  expect([text.slice(at, end), message]).toEqual(['wher', expect.stringContaining('did you mean where')]);
  expect(placeIn(text, 3, 3)).toEqual({ at, end });
  expect(findProblem(`['x'] | where`)).toMatchObject({ at: 8, end: 13 });
  expect(findProblem(`['x'] | count`)).toBeUndefined();
  expect(findProblem(' ')).toBeUndefined();
});

describe.skipIf(!hasChromium)(`explorer’s editor${chromiumHint}`, () => {
  closeBrowserAfterAll();
  const service = localService('app-logs', ({ ask }) =>
    ask('POST', '/v1/ingest/app-logs', [{ level: 'error', status: 500, 'req id': 'r-1', message: 'no' }]),
  );
  const open = explorerOf(service, 'app-logs');
  const option = (page: Page, name: string) =>
    page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option', { name, exact: true });

  test('editor suggests while one types, by keyboard alone, and says so to screen readers', async () => {
    const { page, problems } = await open('');
    await page
      .getByRole('button', { name: /^app-logs/ })
      .getByText('1 event ')
      .waitFor();
    await field(page).fill('');
    await page.keyboard.type('app');
    await option(page, 'app-logs dataset').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.type(' | whe');
    await option(page, 'where operator').waitFor();
    await expect.poll(() => field(page).getAttribute('aria-activedescendant')).toBe('suggestion-0');
    await expectAccessible(page);
    await page.keyboard.press('Tab');
    await page.keyboard.type('re');
    await option(page, 'req id field').waitFor();
    const chosen = () => page.locator('[role=option][aria-selected=true]').textContent();
    await page.keyboard.press('ArrowDown');
    await expect.poll(chosen).not.toBe('req id field');
    await page.keyboard.press('ArrowUp');
    await expect.poll(chosen).toBe('req id field');
    await page.keyboard.press('Enter');
    await expect.poll(() => field(page).inputValue()).toBe(`['app-logs'] | where ['req id']`);
    await page.keyboard.type(' == "r-1"');
    await expect.poll(() => page.getByRole('listbox').count()).toBe(0);
    await page.keyboard.press('Control+Enter');
    await page.locator('tr[data-row]', { hasText: 'r-1' }).waitFor();
    await page.keyboard.type(' | ta');
    await option(page, 'take operator').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('listbox').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test('editor colours the text over the very same characters', async () => {
    const { page } = await open('');
    await field(page).fill(
      `['app-logs'] // all of them\n| where level == "error"\n| summarize count() by bin(_time, 1m)`,
    );
    await expect.poll(() => page.locator('.code-operator').allTextContents()).toEqual(['where', 'summarize']);
    expect(await page.locator('.code-comment').textContent()).toContain('// all of them');
    const [shown, typed] = await page.evaluate<[number, number][]>(
      `['.code-shown', '.code textarea'].map((name) => { const { width, height } = document.querySelector(name).getBoundingClientRect(); return [width, height]; })`,
    );
    expect(shown).toEqual(typed);
  });

  test('editor underlines a fault at its place, and the service’s own refusals', async () => {
    const { page } = await open('');
    await field(page).fill(`['app-logs']\n| wher status == 1`);
    await expect.poll(() => page.locator('.code-fault').allTextContents()).toEqual(['wher']);
    await page.getByText('did you mean where').waitFor();
    expect(await field(page).getAttribute('aria-invalid')).toBe('true');
    await expectAccessible(page);
    await field(page).fill(`['app-logs']\n| where status == 1`);
    await expect.poll(() => page.locator('.code-fault').count()).toBe(0);
    await field(page).fill(`['nowhere'] | count`);
    await page.keyboard.press('Control+Enter');
    await page.getByRole('alert').getByText('nowhere').waitFor();
  });
});
