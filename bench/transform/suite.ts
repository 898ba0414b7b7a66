/** What transforms cost: the agent with each pipeline, and syslog-ng with the one that it can do the same as, in turns. */
import { join } from 'node:path';
import { writeInput } from '../inputs.ts';
import type { Options } from '../options.ts';
import { type Figures, GIB, median, runAgent, runSyslogNg } from '../run.ts';
import { say } from '../suite.ts';
import { findSyslogNg } from '../peers/syslog-ng/syslog-ng.ts';
import { PIPELINES, writeJsonInput } from './pipelines.ts';

const SEED = 20_260_101;

export interface TransformRow {
  readonly name: string;
  readonly text: string | undefined;
  readonly target: number | undefined;
  readonly over: string | undefined;
  readonly times: string | undefined;
  /** Medians; CPU without starting up. */
  readonly cpuSecondsPerGiB: number;
  readonly peakRssBytes: number;
  readonly peakPrivateBytes: number;
}

const wants = ({ only }: Options, name: string): boolean =>
  only.length === 0 || only.some((part) => `transform/${name}`.includes(part));

export const wantsTransforms = (options: Options): boolean => PIPELINES.some(({ name }) => wants(options, name));

interface Scenario extends Pick<TransformRow, 'name' | 'text' | 'target' | 'over' | 'times'> {
  readonly startup: 'agent' | 'syslog-ng';
  readonly bytes: number;
  readonly pass: () => Promise<Figures>;
}

/** Throws when another number of events arrives than a pipeline lets through. */
export async function measureTransforms(options: Options, program: string, folder: string): Promise<TransformRow[]> {
  const bytes = options.bytes;
  say('making the inputs of transforms');
  const json = writeJsonInput(SEED, bytes, join(folder, 'transform-json.log'));
  const text = writeInput('text', SEED, bytes, join(folder, 'transform-text.log'));
  const one = writeInput('text', SEED, 1, join(folder, 'transform-one.log'));
  const kept = { ...json, lines: json.kept };
  const run = join(folder, 'transform');
  const syslogNg = findSyslogNg();
  const scenarios = PIPELINES.filter(({ name }) => wants(options, name)).map((pipeline): Scenario => {
    const input = pipeline.kind === 'text' ? text : pipeline.filters === true ? kept : json;
    const pass = (): Promise<Figures> =>
      runAgent(program, run, input, 'none', { transform: pipeline.text, time: pipeline.time ?? 'read' });
    const { name, text: steps, target, over, times } = pipeline;
    return { name, text: steps, target, over, times, startup: 'agent', bytes: input.bytes, pass };
  });
  if (syslogNg && wants(options, 'three steps')) {
    const pass = (): Promise<Figures> => runSyslogNg(syslogNg, run, kept, 'transform');
    const without = { text: undefined, target: undefined, over: undefined, times: undefined };
    const name = `three steps, by syslog-ng ${syslogNg.version}`;
    scenarios.push({ name, ...without, startup: 'syslog-ng', bytes: kept.bytes, pass });
  }
  const starts: Record<Scenario['startup'], number[]> = { agent: [], 'syslog-ng': [] };
  const passes = scenarios.map((): Figures[] => []);
  for (let turn = 1; turn <= options.runs; turn++) {
    starts.agent.push((await runAgent(program, run, one, 'none', { transform: undefined, time: 'read' })).cpuSeconds);
    if (syslogNg) starts['syslog-ng'].push((await runSyslogNg(syslogNg, run, one, 'text')).cpuSeconds);
    for (const [n, { name, pass }] of scenarios.entries()) {
      const figures = await pass();
      passes[n]!.push(figures);
      say(`transform/${name} ${turn}/${options.runs}: ${figures.cpuSecondsPerGiB.toFixed(2)} CPU-s/GiB`);
    }
  }
  return scenarios.map(({ name, text: pipeline, target, over, times, startup, bytes: size }, n) => ({
    name,
    text: pipeline,
    target,
    over,
    times,
    cpuSecondsPerGiB: (median(passes[n]!.map(({ cpuSeconds }) => cpuSeconds)) - median(starts[startup])) / (size / GIB),
    peakRssBytes: median(passes[n]!.map(({ peakRssBytes }) => peakRssBytes)),
    peakPrivateBytes: median(passes[n]!.map(({ peakPrivateBytes }) => peakPrivateBytes)),
  }));
}
