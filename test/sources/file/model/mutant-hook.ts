/** Puts the mutant that TAILRACE_MUTANT names under the source, as it is loaded. */
import { registerHooks } from 'node:module';
import { mutants } from './mutants.ts';

const mutant = mutants.find(({ name }) => name === process.env['TAILRACE_MUTANT']);
if (!mutant) throw new Error(`no mutant is named "${process.env['TAILRACE_MUTANT']}"`);

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith(`/src/${mutant.file}`)) return loaded;
    const source = Buffer.from(loaded.source as Uint8Array).toString();
    if (source.split(mutant.find).length !== 2) throw new Error(`the place of the mutant "${mutant.name}" is not there once`);
    return { ...loaded, source: source.replace(mutant.find, () => mutant.replace) };
  },
});
