/** What tests of the disk buffer count in its folder, and in what it sends. */
import { readdirSync } from 'node:fs';
import { makeTree } from '../support/temp-tree.ts';
import { DiskRig } from './disk-rig.ts';

export const LETTERS = ['a', 'b', 'c', 'd', 'e', 'f'];

/** The name of a batch by its body. */
export const nameIn = (body: string): string =>
  (JSON.parse(body.slice(0, body.indexOf('\n'))) as { batch: string }).batch;
export const filesIn = (folder: string): string[] => readdirSync(folder).filter((name) => name.endsWith('.batch'));
export const countEvents = (body: string): number => body.split('\n').length - 1;

/** Bytes of a spool file with one event and this padding. */
export async function fileBytes(padding: number): Promise<number> {
  const rig = new DiskRig(makeTree({}));
  rig.take('a', 1, { padding });
  await rig.written();
  return rig.spool.bytes;
}
