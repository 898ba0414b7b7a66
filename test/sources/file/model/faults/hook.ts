/** Plants the fault that TAILRACE_FAULT names: the modules of its hooks are loaded with other exports in the place of their own. */
import { registerHooks } from 'node:module';
import { faults } from './faults.ts';

const fault = faults.find(({ name }) => name === process.env['TAILRACE_FAULT']);
if (!fault) throw new Error(`no fault is named "${process.env['TAILRACE_FAULT']}"`);

const unplanted = new Set(Object.keys(fault.hooks));

/** What the hook's export is from now on. */
export function plant(hook: string, real: unknown): unknown {
  if (real === undefined) throw new Error(`there is no ${hook}`);
  unplanted.delete(hook);
  return fault!.hooks[hook]!(real as never);
}

process.on('exit', () => {
  if (unplanted.size > 0) console.error(`never loaded: ${[...unplanted].join()}`);
});

registerHooks({
  load(url, context, nextLoad) {
    const names = Object.keys(fault.hooks).flatMap((hook) => {
      const [path, name] = hook.split('#') as [string, string];
      return url.endsWith(`/src/${path}`) ? [{ hook, name }] : [];
    });
    if (names.length === 0) return nextLoad(url, context);
    const real = JSON.stringify(`${url}?real`);
    const source = [
      `import * as real from ${real};`,
      `import { plant } from ${JSON.stringify(import.meta.url)};`,
      `export * from ${real};`,
      ...names.map(({ hook, name }) => `export const ${name} = plant(${JSON.stringify(hook)}, real.${name});`),
    ];
    return { format: 'module', shortCircuit: true, source: source.join('\n') };
  },
});
