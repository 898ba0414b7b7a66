/**
 * `tailrace audit`: proof of delivery. Where every byte of every file is, for each sink and dataset, as the state and the dead letters prove
 * it. Asks the running agent for its accounting; without one it holds the folder's lock meanwhile.
 */
import { existsSync } from 'node:fs';
import { askAgent } from '../../agent/control/control.ts';
import type { Config } from '../../config/model.ts';
import { lockFolder } from '../../state/lock.ts';
import type { Status } from '../../telemetry/status.ts';
import { write } from '../client/output/print.ts';
import { type ConfigArguments, configOf } from '../agent/config-arguments.ts';
import { type Audit, type AuditedAgent, makeReport, type Report } from './report.ts';
import { renderAudit } from './show.ts';

/** Resolves with 0 where everything is accounted for, else 1. Throws `TailraceError`. */
export async function audit(args: ConfigArguments): Promise<number> {
  const config = configOf(args);
  const found = await auditFolder(config);
  await write(args.json === true ? `${JSON.stringify(found)}\n` : renderAudit(found));
  return found.ok ? 0 : 1;
}

async function auditFolder(config: Config): Promise<Audit> {
  const answer = await askAgent(config.dataDir, { command: 'status', args: [] });
  if (answer) return judge(await makeReport(config, true), countsOf(answer.result as Status));
  // Do not create a folder that no agent has used.
  const lock = existsSync(config.dataDir) ? lockFolder(config.dataDir) : undefined;
  try {
    return judge(await makeReport(config, false), undefined);
  } finally {
    lock?.release();
  }
}

function judge(report: Report, agent: AuditedAgent | undefined): Audit {
  const totals = {
    settled: 0,
    in_hand: 0,
    unread: 0,
    lost: 0,
    dropped: 0,
    gap: 0,
    dead_letters: 0,
    missing_letters: 0,
    dropped_letters: 0,
  };
  for (const { sinks, unread_bytes: unread = 0 } of report.streams) {
    totals.unread += unread;
    for (const { ranges, unplaced, dead_letters: letters } of sinks) {
      totals.dead_letters += letters.count;
      for (const { events } of letters.missing) totals.missing_letters += Math.max(1, events);
      for (const events of Object.values(letters.dropped)) totals.dropped_letters += events;
      for (const { from, to, state } of ranges) totals[state] += (to ?? from) - from;
      for (const { state, bytes } of unplaced) totals[state] += bytes;
    }
  }
  const lostByAgent = agent?.sources.some(({ lost_bytes: bytes }) => bytes > 0) ?? false;
  const ok =
    totals.lost + totals.gap + totals.missing_letters === 0 && report.problems.length === 0 && (agent?.balanced ?? true) && !lostByAgent;
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
