/** The page's first sentence: the agent's state, and its problems. */
import { formatBytes, formatDuration, formatMany, formatTime } from '../parts/format.ts';
import type { AgentView } from './use-agent.ts';

export interface StatusSummary {
  readonly level: 'good' | 'warn' | 'bad' | 'idle';
  readonly title: string;
  readonly details: readonly string[];
}

const TROUBLE = {
  paused: 'is paused',
  retrying: 'is retrying',
  missing: 'cannot send',
  blocked: 'holds batches back: no dead letter can be kept',
} as const;

export function summarize({ status, goneSince, isLoading }: AgentView): StatusSummary {
  if (isLoading) return { level: 'idle', title: 'Asking the agent …', details: [] };
  if (goneSince !== undefined) {
    const last = status ? [`Its last answer came at ${formatTime(goneSince)}; what stands below is from then.`] : [];
    return {
      level: 'bad',
      title: 'The agent does not answer',
      details: [...last, 'It stopped, hangs, or cannot be reached. This page goes on asking.'],
    };
  }
  if (!status) return { level: 'idle', title: 'Asking the agent …', details: [] };
  const { accounting, sinks, sources, unsaved } = status;
  const details: string[] = [];
  for (const { id, state, reason, fix } of sinks)
    if (state !== 'delivering')
      details.push([`Sink ${id}: ${reason ?? TROUBLE[state]}`, ...(fix === undefined ? [] : [fix])].join('. '));
  if (unsaved !== undefined) details.push(`Positions cannot be saved: ${unsaved}`);
  if (!accounting.balanced)
    return { level: 'bad', title: 'The accounting does not balance', details: [...accounting.problems, ...details] };
  const failing = sinks.filter(({ state }) => state !== 'delivering');
  const held = sources.reduce((sum, source) => sum + source.held, 0);
  const lag = sources.reduce((sum, { lagBytes }) => sum + lagBytes, 0);
  if (failing.length > 0) {
    const [first] = failing;
    const title =
      failing.length === 1
        ? `Sink ${first!.id} ${TROUBLE[first!.state as keyof typeof TROUBLE]}`
        : `${failing.length} sinks do not deliver`;
    return {
      level: failing.some(({ state }) => state === 'paused' || state === 'missing' || state === 'blocked')
        ? 'bad'
        : 'warn',
      title,
      details,
    };
  }
  if (unsaved !== undefined) return { level: 'warn', title: 'Delivering, but positions cannot be saved', details };
  const waiting = sources.filter((source) => source.waiting);
  const inHand =
    held === 0 && lag === 0
      ? 'Everything that was read is stored.'
      : `${formatMany(held, 'event')} in hand, ${formatBytes(lag)} unread.`;
  const longest = Math.max(0, ...waiting.map((source) => source.waiting!.seconds));
  if (longest >= 10)
    return {
      level: 'warn',
      title: 'Delivering, slower than sources write',
      details: [`${inHand} Reading has waited for ${formatDuration(longest * 1000)}.`],
    };
  return { level: 'good', title: 'Delivering', details: [inHand] };
}
