/**
 * Counts what each step of the transforms between a source and a sink does: the pipeline up to each step runs beside the others, over
 * the same events.
 */
import type { TransformConfig } from '../../config/values.ts';
import { type Shaper, DISPOSITIONS } from '../../core/shaping.ts';
import { compileRows } from '../../shaping/rows/program.ts';
import { createShaper } from '../../shaping/shaper.ts';
import { type CompiledTransform, compileTransform } from '../../shaping/transforms.ts';

const DROPPED = DISPOSITIONS.indexOf('dropped');

export interface StepCount {
  /** The transform's place in the configuration. */
  readonly transform: string;
  /** The step's text, or a script's file. */
  readonly step: string;
  /** Events that reached it. */
  events: number;
  filtered: number;
  /** Events that it failed on. */
  failed: number;
}

interface Trial {
  readonly shaper: Shaper;
  readonly count: StepCount;
}

export class StepCounts {
  readonly #trials: readonly Trial[];
  readonly #compiled: readonly CompiledTransform[];

  /** `transforms` in the order in which they run; they were checked. */
  static async create(transforms: readonly TransformConfig[]): Promise<StepCounts> {
    const trials: Trial[] = [];
    const all: CompiledTransform[] = [];
    const before: CompiledTransform[] = [];
    const compile = async (transform: TransformConfig): Promise<CompiledTransform> => {
      const compiled = await compileTransform(transform);
      all.push(compiled);
      return compiled;
    };
    for (const transform of transforms) {
      let last: CompiledTransform | undefined;
      for (const { step, upTo } of stepsOf(transform)) {
        last = await compile(upTo);
        const stages = [...before, last].map((each) => each.createStage({ failed() {} }));
        const count = { transform: transform.path, step, events: 0, filtered: 0, failed: 0 };
        trials.push({ shaper: createShaper(stages), count });
      }
      if (last) before.push(last);
    }
    return new StepCounts(trials, all);
  }

  private constructor(trials: readonly Trial[], compiled: readonly CompiledTransform[]) {
    this.#trials = trials;
    this.#compiled = compiled;
  }

  get counts(): readonly StepCount[] {
    return this.#trials.map(({ count }) => count);
  }

  /** `event`: as it is before the first transform. */
  async add(event: string, source: string, offset: number, readAtMs: number): Promise<void> {
    const bytes = Buffer.from(`${event}\n`);
    let [events, errors, isLost] = [1, 0, false];
    for (const { shaper, count } of this.#trials) {
      const shaped = await shaper.shape({
        bytes,
        count: 1,
        source,
        stream: '0'.repeat(32),
        readAtMs,
        offsetOf: () => offset,
      });
      const sent = shaped.sent[0] ?? 0;
      const wasLost = isLost;
      isLost = shaped.dispositions[0]! >= DROPPED;
      const failed = Math.max(0, shaped.errors - errors);
      count.events += events;
      count.failed += failed;
      count.filtered += Math.max(0, events - sent - (isLost && !wasLost ? failed : 0));
      [events, errors] = [sent, shaped.errors];
    }
  }

  async close(): Promise<void> {
    for (const compiled of this.#compiled) await compiled.close();
  }
}

/** Each step, and the transform that ends with it. */
function stepsOf(transform: TransformConfig): { readonly step: string; readonly upTo: TransformConfig }[] {
  if (transform.kind === 'script') return [{ step: transform.file, upTo: transform }];
  let end = 0;
  return compileRows(transform.text, { from: transform.path }).steps.map(({ text }) => {
    end = transform.text.indexOf(text, end) + text.length;
    return { step: text.trim(), upTo: { ...transform, text: transform.text.slice(0, end) } };
  });
}
