/** Questions to running services, and what they cost: CPU of the service and of its engine's servers, time, and memory at its highest. */
import { writeFileSync } from 'node:fs';
import { median } from '../../run.ts';
import { readCpuSeconds, readStatusBytes } from '../../measure.ts';
import type { MeasuredService } from '../process.ts';
import { END, examplesOf, START, type Example } from './examples.ts';

export interface Target {
  readonly name: string;
  readonly service: MeasuredService;
  /** The processes whose CPU and memory count: the service, and the servers of its engine. */
  readonly pids: readonly number[];
}

export interface Cost {
  readonly cpuMs: number;
  readonly wallMs: number;
  /** Why it was refused, when it was. */
  readonly refused?: string;
}

export interface Memory {
  readonly clients: number;
  /** Of all processes together, at the highest. */
  readonly peakBytes: number;
  readonly refused: number;
}

export interface ExampleCosts {
  readonly example: Example;
  /** By the target's name. */
  readonly costs: Readonly<Record<string, Cost>>;
}

/** Of the services: longer than the default, so that what else the machine does ends no query. */
export const PATIENCE = ['--query-timeout', '5m'];
const HOUR_MS = 3_600_000;
/** What the kernel takes for "forget the highest memory so far". */
const RESET_PEAK = '5';

interface Answer {
  readonly tables?: readonly { readonly columns: readonly (readonly unknown[])[] }[];
  readonly status?: { readonly rowsMatched: number };
  readonly refused?: string;
}

/** The examples with an event that is stored, and the end of the newest hour. */
export async function examplesFor({
  service,
}: Pick<Target, 'service'>): Promise<{ examples: readonly Example[]; min: string; max: string }> {
  const range = await ask(service, 'summarize min(_time), max(_time)', {});
  const [min, max] = range.tables![0]!.columns.map(([value]) => String(value)) as [string, string];
  const found = await ask(service, 'where seq == 1000 | project reqId, _time', {});
  const [reqId, time] = found.tables![0]!.columns.map(([value]) => String(value)) as [string, string];
  return { examples: examplesOf({ reqId, seq: 1000, time }), min, max };
}

/** `turns` of each example, the targets one after the other in each. Throws when they do not match the same number of events. */
export async function askAll(
  targets: readonly Target[],
  turns: number,
  say: (line: string) => void,
): Promise<ExampleCosts[]> {
  const { examples, max } = await examplesFor(targets[0]!);
  const rows: ExampleCosts[] = [];
  for (const example of examples) {
    const range = rangeOf(example, max);
    const passes = new Map<string, Cost[]>(targets.map(({ name }) => [name, []]));
    const matched = new Set<number>();
    // Of several turns, one more goes ahead and is not measured: it fills what a first query fills.
    for (let turn = turns > 1 ? 0 : 1; turn <= turns; turn++)
      for (const target of targets) {
        const { cost, answer } = await measure(target, example.text, range);
        if (answer.status) matched.add(answer.status.rowsMatched);
        if (turn > 0) passes.get(target.name)!.push(cost);
      }
    if (matched.size > 1) throw new Error(`${example.name}: the engines matched ${[...matched].join(' and ')} events`);
    const costs = Object.fromEntries([...passes].map(([name, found]) => [name, medianOf(found)]));
    rows.push({ example, costs });
    say(
      `${example.name}: ${Object.entries(costs)
        .map(([name, cost]) => `${name} ${describeCost(cost)}`)
        .join('; ')}`,
    );
  }
  return rows;
}

/** So many clients ask the same at once. */
export async function measureMemory({ service, pids }: Target, text: string, clients: number): Promise<Memory> {
  for (const pid of pids) writeFileSync(`/proc/${pid}/clear_refs`, RESET_PEAK);
  const answers = await Promise.all(Array.from({ length: clients }, () => ask(service, text, {})));
  const peakBytes = pids.reduce((sum, pid) => sum + readStatusBytes(pid, 'VmHWM'), 0);
  return { clients, peakBytes, refused: answers.filter((answer) => answer.refused !== undefined).length };
}

const describeCost = ({ cpuMs, wallMs, refused }: Cost): string =>
  refused ?? `${cpuMs.toFixed(0)} ms CPU, ${wallMs.toFixed(0)} ms`;
export const describeMemory = ({ clients, peakBytes, refused }: Memory): string =>
  `${clients} at a time ${(peakBytes / 1e6).toFixed(0)} MB${refused > 0 ? `, ${refused} refused` : ''}`;

async function measure(
  { service, pids }: Target,
  text: string,
  range: object,
): Promise<{ cost: Cost; answer: Answer }> {
  const cpu = (): number => pids.reduce((sum, pid) => sum + readCpuSeconds(pid), 0);
  const [cpuFrom, from] = [cpu(), performance.now()];
  const answer = await ask(service, text, range);
  const wallMs = performance.now() - from;
  const { refused } = answer;
  return { cost: { cpuMs: (cpu() - cpuFrom) * 1000, wallMs, ...(refused !== undefined && { refused }) }, answer };
}

/** A query that goes over its time or memory is an answer, too. */
async function ask(service: MeasuredService, text: string, range: object): Promise<Answer> {
  const body = JSON.stringify({ apl: `['bench'] | ${text}`, startTime: START, endTime: END, ...range });
  try {
    return (await service.post('/v1/query/_apl?format=tabular&nocache=true', body)) as Answer;
  } catch (error) {
    const refused = /(?:time|memory) limit of [^"]+/.exec(String(error))?.[0];
    if (refused === undefined) throw error;
    return { refused };
  }
}

function rangeOf({ lastHour }: Example, max: string): object {
  if (lastHour !== true) return {};
  const end = Date.parse(max);
  return { startTime: new Date(end - HOUR_MS).toISOString(), endTime: new Date(end + 1).toISOString() };
}

function medianOf(costs: readonly Cost[]): Cost {
  const refused = costs.find((cost) => cost.refused !== undefined)?.refused;
  const [cpuMs, wallMs] = [median(costs.map((cost) => cost.cpuMs)), median(costs.map((cost) => cost.wallMs))];
  return { cpuMs, wallMs, ...(refused !== undefined && { refused }) };
}
