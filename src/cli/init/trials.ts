/** Tries keys of a source on lines, with the agent's own parsers: what `tailrace preview` would show. */
import { Readable } from 'node:stream';
import { type PreviewedEvent, Previewer } from '../../agent/preview/previewer.ts';
import { NO_PRESETS, type OwnPresets } from '../../config/presets/preset.ts';
import { silentLog } from '../../core/log.ts';
import { targetWith } from '../preview/preset-target.ts';

export interface TriedEvent {
  readonly text: string;
  readonly event: Readonly<Record<string, unknown>>;
  readonly timeMs: number;
  /** The time is the event's, not that of the read. */
  readonly hasOwnTime: boolean;
}

interface Trial {
  readonly previewer: Previewer;
  events: TriedEvent[];
}

export class Trials {
  readonly #own: OwnPresets;
  readonly #trials = new Map<string, Promise<Trial>>();

  constructor(own: OwnPresets = NO_PRESETS) {
    this.#own = own;
  }

  /** `keys` are entries of a source's mapping: `preset: log4j, time: {timezone: UTC}`. */
  async run(keys: string, path: string, lines: Buffer): Promise<readonly TriedEvent[]> {
    const known = this.#trials.get(keys) ?? createTrial(keys, this.#own);
    this.#trials.set(keys, known);
    const trial = await known;
    trial.events = [];
    await trial.previewer.read(path, Readable.from([lines]));
    return trial.events;
  }

  async close(): Promise<void> {
    for (const trial of this.#trials.values()) await (await trial).previewer.close();
  }
}

async function createTrial(keys: string, own: OwnPresets): Promise<Trial> {
  const record = (event: PreviewedEvent): void => void trial.events.push(triedOf(event));
  const trial: Trial = {
    previewer: await Previewer.create({ ...targetWith(keys, own, {}), log: silentLog, record }),
    events: [],
  };
  return trial;
}

function triedOf({ before, text, readAtMs }: PreviewedEvent): TriedEvent {
  const event = JSON.parse(before ?? '{}') as Record<string, unknown>;
  const timeMs = Date.parse(String(event['_time']));
  return { text, event, timeMs, hasOwnTime: event['time_error'] === undefined && timeMs !== readAtMs };
}
