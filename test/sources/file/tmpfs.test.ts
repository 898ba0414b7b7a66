/** Every other suite of this folder once more, on tmpfs. */
import { readdirSync } from 'node:fs';
import { onTmpfs } from '../../support/on-tmpfs.ts';

const suites = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.ts') && name !== 'tmpfs.test.ts');
onTmpfs(Object.fromEntries(suites.map((name) => [name, () => import(/* @vite-ignore */ `./${name}`)])));
