/** `tailrace preset list|show NAME|try FILE`: the presets, what they set, and which of them fit a file. */
import { printable } from '../config/quote.ts';
import { type OwnPresets, presetOf, PRESET_NAMES } from '../config/presets/preset.ts';
import { printYaml } from '../config/yaml/print.ts';
import { TailraceError, UsageError } from '../core/errors.ts';
import { flush, write } from './client/output/print.ts';
import { fitPresets } from './init/fit-presets.ts';
import { lookInto, openerOf } from './init/look-into.ts';
import { Trials } from './init/trials.ts';
import type { ConfigArguments } from './agent/config-arguments.ts';
import { findOwnPresets, presetTarget } from './preview/preset-target.ts';

/** Resolves with 0; `try` with 1 where no preset fits. Throws `TailraceError`. */
export async function preset(action: string, name: string | undefined, args: ConfigArguments): Promise<number> {
  const own = findOwnPresets(args.config);
  if (action === 'list' && name === undefined) return list(own, args.json === true);
  if (action === 'show' && name !== undefined) return show(name, own, args.json === true);
  if (action === 'try' && name !== undefined) return tryFile(name, own, args.json === true);
  throw new UsageError('E_PRESET', 'there is no such form of preset', {
    fix: 'write preset list, preset show NAME, or preset try FILE',
  });
}

async function list(own: OwnPresets, isJson: boolean): Promise<number> {
  const all = [...own.keys(), ...PRESET_NAMES].map((name) => presetOf(name, own)!);
  const width = Math.max(...all.map(({ name }) => name.length));
  if (isJson) await write(`${JSON.stringify({ presets: all })}\n`);
  else await write(all.map(({ name, reads }) => `${printable(name).padEnd(width)}  ${reads}\n`).join(''));
  await flush();
  return 0;
}

async function show(name: string, own: OwnPresets, isJson: boolean): Promise<number> {
  presetTarget(name, own);
  const { reads, fields, keys } = presetOf(name, own)!;
  if (isJson) await write(`${JSON.stringify({ name, reads, fields, keys })}\n`);
  else await write(`# ${reads}\n# fields: ${fields.map(printable).join(', ')}\n${printYaml({ [name]: keys })}`);
  await flush();
  return 0;
}

async function tryFile(file: string, own: OwnPresets, isJson: boolean): Promise<number> {
  const look = lookInto(file, openerOf([file]));
  if (look.kind !== 'log')
    throw new TailraceError('E_PRESET', `cannot try "${file}": ${look.reason}`, { fix: look.fix ?? 'name a log file' });
  const trials = new Trials(own);
  try {
    const { lines, presets } = await fitPresets([...own.keys(), ...PRESET_NAMES], file, look.head, trials);
    const shown = presets.map(({ name, lines: fitting }) => ({
      name,
      lines: fitting,
      share: lines === 0 ? 0 : fitting / lines,
    }));
    if (isJson) await write(`${JSON.stringify({ file, lines, presets: shown })}\n`);
    else if (shown.length === 0) await write(`no preset fits the first ${lines} lines\n`);
    else
      await write(
        shown
          .map(
            ({ name, lines: fitting, share }) =>
              `${`${Math.round(share * 100)} %`.padStart(5)}  ${printable(name)}  (${fitting} of the first ${lines} lines)\n`,
          )
          .join(''),
      );
    await flush();
    return shown.length === 0 ? 1 : 0;
  } finally {
    await trials.close();
  }
}
