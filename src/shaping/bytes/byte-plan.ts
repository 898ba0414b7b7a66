/** The part of a whole pipeline that runs over the bytes of events: all of it, or the conditions that it begins with. */
import { type ByteCondition, type ByteStep, planSteps } from '../analysis.ts';
import type { ProgramStep } from '../rows/program.ts';
import type { Screen } from '../redact/screens.ts';
import { topLevelNames } from '../rows/values/paths.ts';

export interface BytePlan {
  /** All of them have to be met. */
  readonly conditions: readonly ByteCondition[];
  /** Undefined where events that meet the conditions need their values. */
  readonly edits: ByteEdits | undefined;
}

export interface ByteEdits {
  /** Top-level fields that stay where all others go. */
  readonly kept: readonly string[] | undefined;
  /** May have dots. */
  readonly removed: readonly string[];
  readonly renamed: readonly { readonly from: string; readonly to: string }[];
  readonly added: readonly { readonly name: string; readonly json: string }[];
  /** Texts that stay as they are where nothing in them is to be hidden. */
  readonly screened: readonly { readonly name: string; readonly screen: Screen }[];
}

/** Undefined where nothing of the pipeline does. */
export function planBytes(steps: readonly Pick<ProgramStep, 'stages'>[]): BytePlan | undefined {
  const plans = planSteps(steps);
  const bytes = plans.flatMap((plan) => ('bytes' in plan ? plan.bytes : []));
  const edits = plans.every((plan) => 'bytes' in plan) ? editsOf(bytes) : undefined;
  if (edits) return { conditions: bytes.flatMap((step) => (step.kind === 'compare' ? [step.condition] : [])), edits };
  const conditions: ByteCondition[] = [];
  for (const plan of plans) {
    const [step, ...others] = 'bytes' in plan ? plan.bytes : [];
    if (step?.kind !== 'compare' || others.length > 0) break;
    conditions.push(step.condition);
  }
  return conditions.length === 0 ? undefined : { conditions, edits: undefined };
}

/** Steps whose order makes no difference, so that all are done at once; undefined for others: each field is changed by one step, and read before that. */
function editsOf(steps: readonly ByteStep[]): ByteEdits | undefined {
  const changed = new Set<string>();
  const removed = new Set<string>();
  const renamed: { from: string; to: string }[] = [];
  const added: { name: string; json: string }[] = [];
  const screened: { name: string; screen: Screen }[] = [];
  let kept: readonly string[] | undefined;
  const isFree = (names: readonly string[]): boolean => names.every((name) => !changed.has(name));
  for (const step of steps) {
    const names = namesOf(step);
    // Behind project-keep other fields are gone; new ones may come, but not before it.
    if (kept ? step.kind !== 'add' : step.kind === 'keep' && renamed.length + added.length + screened.length > 0)
      return undefined;
    if (!isFree(names) && !(step.kind === 'remove' && names.every((name) => !changed.has(name) || removed.has(name))))
      return undefined;
    if (step.kind === 'compare') continue;
    for (const name of names) changed.add(name);
    if (step.kind === 'remove') for (const name of names) removed.add(name);
    if (step.kind === 'keep') kept = step.names;
    else if (step.kind === 'rename') {
      if (step.from === step.to) return undefined;
      renamed.push({ from: step.from, to: step.to });
    } else if (step.kind === 'add') added.push({ name: step.name, json: step.json });
    else if (step.kind === 'screen') screened.push({ name: step.name, screen: step.screen });
  }
  const removals = steps.flatMap((step) => (step.kind === 'remove' ? [step.name] : []));
  return removals.includes('_time') ? undefined : { kept, removed: removals, renamed, added, screened };
}

/** Top-level names that the step reads or writes. */
function namesOf(step: ByteStep): readonly string[] {
  switch (step.kind) {
    case 'compare':
      return testedFields(step.condition).flatMap(topLevelNames);
    case 'remove':
    case 'add':
    case 'screen':
      return topLevelNames(step.name);
    case 'keep':
      return step.names;
    case 'rename':
      return [step.from, step.to];
  }
}

export function testedFields(condition: ByteCondition): readonly string[] {
  if (condition.kind === 'test') return [condition.field];
  return condition.kind === 'not' ? testedFields(condition.part) : condition.parts.flatMap(testedFields);
}
