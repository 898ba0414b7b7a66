/**
 * The events that the status page shows of a source, after their transforms: a tap of a moment for each question, which those who ask
 * meanwhile share. While nobody asks, no events are copied.
 */
import type { TailView } from '../../telemetry/status-page.ts';
import type { Components } from '../build/components.ts';
import type { Shapers } from '../build/shapers.ts';
import { answerTap } from './tap.ts';

const MOST_EVENTS = 50;
const WAIT_MS = 1000;

/** Rejects with `E_TAP` for a source that does not run, and while `tailrace tap` runs. */
export function createLiveTail(
  components: Components,
  shapers: () => Shapers | undefined,
): (source: string) => Promise<TailView> {
  const underWay = new Map<string, Promise<TailView>>();
  const look = async (source: string): Promise<TailView> => {
    const accepted = () => components.sources.get(source)?.accounting.accepted ?? 0;
    const from = accepted();
    const tapped = await answerTap(components, shapers(), [source, String(MOST_EVENTS), String(WAIT_MS)]);
    return { from, to: accepted(), looked: tapped.length, events: tapped.flatMap(({ events }) => events) };
  };
  return (source) => {
    let asked = underWay.get(source);
    if (!asked) underWay.set(source, (asked = look(source).finally(() => underWay.delete(source))));
    return asked;
  };
}
