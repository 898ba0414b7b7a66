/** `tailrace datasets list|get|create|update|delete|trim`. Each resolves with the exit code. */
import { createInterface } from 'node:readline';
import type { ArgumentsOf } from '../options/command-options.ts';
import { printList, printRecord, write } from './output/print.ts';
import { plural, say, usageError } from '../output/say.ts';
import { withClient } from './with-client.ts';

export function listDatasets(args: ArgumentsOf<'datasets list'>): Promise<number> {
  return withClient(args, undefined, async (client) => {
    const datasets = await client.datasets.list();
    await printList(datasets, { name: 'name', created: 'created', who: 'who', description: 'description' }, args.json);
    if (datasets.length === 0 && !args.json) say('No datasets; `tailrace datasets create NAME` makes one.');
  });
}

export function getDataset(name: string, args: ArgumentsOf<'datasets get'>): Promise<number> {
  return withClient(args, name, async (client) => printRecord(await client.datasets.get(name), args.json));
}

export function createDataset(name: string, args: ArgumentsOf<'datasets create'>): Promise<number> {
  checkName(name);
  return withClient(args, undefined, async (client) => {
    const { description } = args;
    await printRecord(
      await client.datasets.create({ name, ...(description !== undefined && { description }) }),
      args.json,
    );
  });
}

export function updateDataset(name: string, args: ArgumentsOf<'datasets update'>): Promise<number> {
  const { description } = args;
  if (description === undefined)
    throw usageError('update changes nothing without --description', 'give --description TEXT');
  return withClient(args, name, async (client) =>
    printRecord(await client.datasets.update(name, { description }), args.json),
  );
}

export function deleteDataset(name: string, args: ArgumentsOf<'datasets delete'>): Promise<number> {
  return withClient(args, name, async (client) => {
    if (!(await confirm(`Delete the dataset ${name} and all its events?`, args.yes))) return 1;
    await client.datasets.delete(name);
    if (args.json) await write(`${JSON.stringify({ deleted: name })}\n`);
    else say(`The dataset ${name} is deleted.`);
    return 0;
  });
}

export function trimDataset(
  name: string,
  duration: string | undefined,
  args: ArgumentsOf<'datasets trim'>,
): Promise<number> {
  const keep = duration ?? args.maxDuration;
  if (keep === undefined)
    throw usageError('trim needs the age over which events are deleted', 'such as `tailrace datasets trim logs 30d`');
  return withClient(args, name, async (client) => {
    if (!(await confirm(`Delete the events of ${name} that are older than ${keep}?`, args.yes))) return 1;
    const numDeleted = await client.datasets.trim(name, keep);
    await write(args.json ? `${JSON.stringify({ numDeleted })}\n` : `${plural(numDeleted, 'event')} deleted\n`);
    return 0;
  });
}

/** Asks on a terminal; a script has decided. */
export async function confirm(question: string, yes: boolean | undefined): Promise<boolean> {
  if (yes === true || !process.stdin.isTTY || !process.stderr.isTTY) return true;
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C and the end of the input close it without an answer.
  const answer = await new Promise<string>((resolve) => {
    asking.once('close', () => resolve(''));
    asking.question(`${question} [y/N] `, resolve);
  });
  asking.close();
  if (/^y(es)?$/i.test(answer.trim())) return true;
  say('Nothing was changed.');
  return false;
}

function checkName(name: string): void {
  if (/^[A-Za-z0-9-]{1,128}$/.test(name)) return;
  throw usageError(`"${name}" cannot be the name of a dataset`, 'use 1 to 128 letters (A-Z, a-z), digits and `-`');
}
