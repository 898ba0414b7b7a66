/**
 * `npm run bench -- --only scaling`: what docs/scaling.md says of cost. It takes tens of gigabytes and up to an hour, so it runs only when it is named;
 * `scaling/engines` and `scaling/growth` are its halves.
 */
import { rmSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import type { Options } from '../../options.ts';
import { say } from '../../suite.ts';
import { store } from '../queries.ts';
import { measureEngines, type EngineFigures } from './engines.ts';
import { measureGrowth, type GrowthRow } from './growth.ts';
import { renderEngines, renderGrowth, renderLoad } from './report.ts';

export interface ScalingFigures {
  readonly engines?: Loaded<EngineFigures>;
  readonly growth?: Loaded<readonly GrowthRow[]>;
}

interface Loaded<T> {
  readonly figures: T;
  /** Processes that wanted to run, on average over a minute, before and after. */
  readonly load: readonly [number, number];
}

/** How many times as many events as were stored through the service. */
const SIZES = [1, 10, 33];
const TURNS = 3;

const wants = ({ only }: Options, half: string): boolean =>
  only.some((part) => part.startsWith('scaling') && half.startsWith(part));
export const wantsScaling = (options: Options): boolean =>
  wants(options, 'scaling/engines') || wants(options, 'scaling/growth');

export async function measureScaling(options: Options, program: string, folder: string): Promise<ScalingFigures> {
  const { queryRows: rows, serviceBytes: bytes, runs } = options;
  const stored = join(folder, 'scaling-stored');
  const shared = { program, folder, stored, turns: TURNS, say };
  try {
    say(`storing ${rows} events`);
    await store(program, stored, rows);
    return {
      ...(wants(options, 'scaling/engines') && {
        engines: await withLoad(() => measureEngines({ ...shared, rows, bytes, runs })),
      }),
      ...(wants(options, 'scaling/growth') && {
        growth: await withLoad(() => measureGrowth({ ...shared, sizes: SIZES })),
      }),
    };
  } finally {
    rmSync(stored, { recursive: true, force: true });
  }
}

async function withLoad<T>(measure: () => Promise<T>): Promise<Loaded<T>> {
  const before = loadavg()[0]!;
  const figures = await measure();
  return { figures, load: [before, loadavg()[0]!] };
}

/** By the part of docs/scaling.md, its text. */
export function renderScaling(
  { engines, growth }: ScalingFigures,
  where: string,
): Readonly<Partial<Record<'scalingEngines' | 'scalingGrowth', string>>> {
  const withWhere = ({ load }: Loaded<unknown>, text: string): string => `${where} ${renderLoad(load)}\n\n${text}\n`;
  return {
    ...(engines && { scalingEngines: withWhere(engines, renderEngines(engines.figures)) }),
    ...(growth && { scalingGrowth: withWhere(growth, renderGrowth(growth.figures)) }),
  };
}
