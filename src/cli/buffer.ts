/** `tailrace buffer verify|export|repair`: what the disk buffers hold, also those of sinks that are gone, and whether it can be trusted. */
import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { decode } from '../batcher/events.ts';
import { codeOf, messageOf } from '../core/errors.ts';
import { findAbandoned } from '../state/spool/abandoned.ts';
import { makeFolder } from '../state/keep-owner.ts';
import { listFolder } from '../state/list-folder.ts';
import { decodeSpoolFile, type SpoolContent } from '../state/spool/spool-file.ts';
import { plural, say, usageError } from './output/say.ts';
import { type ConfigArguments, configOf } from './agent/config-arguments.ts';

/** Resolves with 0 when every file can be trusted (`repair`: can be now), else 1. */
export function buffer(action: string, args: ConfigArguments): number {
  if (!['verify', 'export', 'repair'].includes(action)) {
    throw usageError(`buffer does not know "${action}"`, 'use verify, export or repair');
  }
  const config = configOf(args);
  let broken = 0;
  let setAside = 0;
  let events = 0;
  let files = 0;
  const root = join(config.dataDir, 'spool');
  const configured = new Set(config.sinks.map(({ id }) => id));
  for (const id of [...configured, ...findAbandoned(root, configured).map(({ sink }) => sink)]) {
    const folder = join(root, id);
    for (const name of listFolder(folder)
      .filter((each) => each.endsWith('.batch'))
      .sort()) {
      const content = readBatch(join(folder, name));
      if (!content) continue;
      files += 1;
      if (!content.ok) broken += 1;
      else events += content.header.events;
      if (action === 'export' && content.ok) process.stdout.write(decode(content.body, content.header.encoding));
      if (action === 'verify' && args.json)
        process.stdout.write(
          `${JSON.stringify({ sink: id, file: name, ok: content.ok, ...(content.ok ? { events: content.header.events } : { reason: content.reason }) })}\n`,
        );
      if (!content.ok) say(`${join(folder, name)}: ${content.reason}`);
      if (action !== 'repair' || content.ok || content.isUnread === true) continue;
      moveAside(folder, name);
      setAside += 1;
    }
  }
  const aside = setAside > 0 ? ` (${setAside} set aside under broken/)` : '';
  process.stderr.write(`${plural(files, 'file')}, ${plural(events, 'event')}, ${broken} broken${aside}\n`);
  return broken === setAside ? 0 : 1;
}

/** Undefined for a file that is gone: a running agent has delivered it. A file that cannot be read now may be whole. */
function readBatch(path: string): (SpoolContent & { readonly isUnread?: boolean }) | undefined {
  try {
    return decodeSpoolFile(readFileSync(path));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    return { ok: false, isUnread: true, reason: `it cannot be read: ${messageOf(error)}` };
  }
}

function moveAside(folder: string, name: string): void {
  makeFolder(join(folder, 'broken'));
  renameSync(join(folder, name), join(folder, 'broken', name));
}
