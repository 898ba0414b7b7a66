/**
 * `tailrace audit`: proof of delivery. Where every byte of every file is, for each sink and dataset, as the state and the dead letters prove
 * it. Asks the running agent for its accounting; without one it holds the folder's lock meanwhile.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { askAgent } from '../../agent/control/control.ts';
import type { Config } from '../../config/model.ts';
import { openState } from '../../state/database/store.ts';
import { lockFolder } from '../../state/lock.ts';
import { createLog } from '../../telemetry/log.ts';
import type { Status } from '../../telemetry/status.ts';
import { write } from '../client/output/print.ts';
import { configOf } from '../agent/config-arguments.ts';
import { type Audit, type AuditedAgent, makeReport, NO_TOTALS, type AuditReport } from './report.ts';
import { renderAudit } from './show.ts';
import type { ArgumentsOf } from '../options/command-options.ts';

/** Resolves with 0 where everything is accounted for, else 1. Throws `TailraceError`. */
export async function audit(args: ArgumentsOf<'audit'>): Promise<number> {
  const config = configOf(args);
  const found = await auditFolder(config, args.acknowledge === true);
  await write(args.json === true ? `${JSON.stringify(found)}\n` : renderAudit(found));
  return found.ok ? 0 : 1;
}

async function auditFolder(config: Config, acknowledges: boolean): Promise<Audit> {
  const { dataDir: folder } = config;
  const beforeMs = Date.now();
  const answer = await askAgent(folder, { command: 'status', args: [] });
  if (answer) {
    const status = answer.result as Status;
    const { unsaved } = status;
    const report = await makeReport(config, true);
    if (acknowledges) await askAgent(folder, { command: 'acknowledge-losses', args: [`${beforeMs}`] });
    const problems = unsaved === undefined ? [] : [`what the agent lost may not be on disk yet: ${unsaved}`];
    return judge({ ...report, problems: [...report.problems, ...problems] }, countsOf(status));
  }
  // Do not create a folder that no agent has used.
  if (!existsSync(join(folder, 'state.db'))) return judge(await makeReport(config, false), undefined);
  const state = acknowledges
    ? openState({ folder, sinksOf: () => [], log: await createLog({ level: 'warn' }) })
    : undefined;
  const lock = state ? undefined : lockFolder(folder);
  try {
    const report = await makeReport(config, false);
    state?.acknowledgeLosses(beforeMs);
    return judge(report, undefined);
  } finally {
    state?.close();
    lock?.release();
  }
}

function judge(report: AuditReport, agent: AuditedAgent | undefined): Audit {
  const totals = { ...NO_TOTALS };
  for (const { sinks, unread_bytes: unread = 0 } of report.streams) {
    totals.unread += unread;
    for (const { ranges, unplaced, dead_letters: letters } of sinks) {
      totals.dead_letters += letters.count;
      for (const { events } of letters.missing) totals.missing_letters += Math.max(1, events);
      for (const events of Object.values(letters.dropped)) totals.dropped_letters += events;
      const sizes = ranges.map(({ from, to, ...range }) => ({ ...range, bytes: (to ?? from) - from }));
      for (const { state, bytes, acknowledged } of [...sizes, ...unplaced]) {
        totals[state] += bytes;
        if (state === 'lost' && acknowledged === true) totals.acknowledged += bytes;
      }
    }
  }
  const ok =
    totals.lost - totals.acknowledged + totals.gap + totals.missing_letters === 0 &&
    report.problems.length === 0 &&
    report.held.every(({ fault_count: faults }) => faults === 0) &&
    (agent?.balanced ?? true);
  return { ok, totals, ...(agent ? { agent } : {}), ...report };
}

function countsOf({ pid, accounting, sources }: Status): AuditedAgent {
  return {
    pid,
    ...accounting,
    sources: sources.map(({ id, accepted, delivered, deadLettered, dropped, filtered, held, lostBytes }) => ({
      ...{ id, accepted, delivered, dead_lettered: deadLettered, dropped, filtered, held, lost_bytes: lostBytes },
    })),
  };
}
