/** A script as a stage of shaping. */
import { createHash } from 'node:crypto';
import { Members } from '../../json/members.ts';
import { editedJson } from '../events/edited-json.ts';
import { type ResultMember, writeEvent } from '../events/write-event.ts';
import { parseJson } from '../rows/values/value.ts';
import { StageOutput, type StageOutputOptions, TOO_LARGE } from '../stages/stage-output.ts';
import type { EventList, ShapingStage } from '../stages/stage.ts';
import type { ScriptResult, ScriptRunner } from './script-runner.ts';

export interface ScriptStageOptions extends StageOutputOptions {
  readonly runner: ScriptRunner;
  readonly sha256: string;
}

export function createScriptStage(options: ScriptStageOptions): ShapingStage {
  const { runner, sha256, onError } = options;
  const out = new StageOutput(options);
  const members = new Members();

  /** The script prints what it changed anew; what it did not touch inside keeps its bytes. */
  const keepInside = (member: ResultMember): ResultMember => {
    const [name, json] = member;
    if (json === undefined || !/^[{[]/.test(json)) return member;
    const n = lastNamed(members, name);
    if (n < 0) return member;
    const [from, to] = [members.valueFrom[n]!, members.valueTo[n]!];
    const before = parseJson(members.bytes.toString('utf8', from, to));
    return [name, editedJson(members.bytes, from, to, before, parseJson(json) ?? null)];
  };

  const write = (list: EventList, n: number, result: ScriptResult): void => {
    members.scan(list.bytes, n === 0 ? 0 : list.ends[n - 1]!);
    out.begin(list, n);
    if (typeof result === 'string') return out.fail(list, n, members, result);
    for (const event of result) {
      writeEvent(out.writer, members, event.map(keepInside));
      if (!out.note(list.origins[n]!)) return out.fail(list, n, members, TOO_LARGE);
    }
  };

  return {
    digest: createHash('sha256')
      .update(JSON.stringify(['script', sha256, onError]))
      .digest('hex'),
    isDeterministic: runner.isDeterministic,
    hidesFields: false,
    async run(list, { source, readAtMs }) {
      // Its own: the list's bytes may be overwritten while the script works.
      const bytes = Buffer.from(list.bytes.subarray(0, list.ends.at(-1) ?? 0));
      const own = { ...list, ends: list.ends, bytes };
      const { results, isRepeatable } = await runner.run({ bytes, ends: own.ends, source, readAtMs });
      out.clear();
      for (const [n, result] of results.entries()) write(own, n, result);
      return { ...out.result, isRepeatable };
    },
  };
}

/** -1 where the event has no such member. */
function lastNamed(members: Members, name: string): number {
  let n = members.count - 1;
  while (n >= 0 && members.nameOf(n) !== name) n--;
  return n;
}
