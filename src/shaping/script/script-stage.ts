/** A script as a stage of shaping. */
import { createHash } from 'node:crypto';
import { Members } from '../events/members.ts';
import { writeEvent } from '../events/write-event.ts';
import { StageOutput, type StageOutputOptions, TOO_LARGE } from '../stages/stage-output.ts';
import type { EventList, Stage } from '../stages/stage.ts';
import type { ScriptResult, ScriptRunner } from './script-runner.ts';

export interface ScriptStageOptions extends StageOutputOptions {
  readonly runner: ScriptRunner;
  readonly sha256: string;
}

export function createScriptStage(options: ScriptStageOptions): Stage {
  const { runner, sha256, onError } = options;
  const out = new StageOutput(options);
  const members = new Members();

  const write = (list: EventList, n: number, result: ScriptResult): void => {
    members.scan(list.bytes, n === 0 ? 0 : list.ends[n - 1]!);
    out.begin(list, n);
    if (typeof result === 'string') return out.fail(list, n, members, result);
    for (const event of result) {
      writeEvent(out.writer, members, event);
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
