/** Counts for `preview --stats`: how many lines each format and time took, failed on or dropped. */
import type { StepCounts } from '../../agent/preview/step-counts.ts';
import { readsLines } from '../../sources/registry.ts';
import { quote } from '../../config/quote.ts';
import { plural } from '../output/say.ts';
import type { PreviewCounts, PreviewedEvent } from '../../agent/preview/previewer.ts';
import type { PreviewTarget } from './preset-target.ts';

type Tally = Record<string, number>;

export class PreviewStats {
  #inputs = 0;
  #sent = 0;
  readonly #format: Tally = {};
  readonly #time: Tally = {};
  readonly #outcome: Tally = { sent: 0, filtered: 0, dropped: 0, dead_lettered: 0 };
  readonly #target: PreviewTarget;
  readonly #steps: StepCounts | undefined;

  constructor(target: PreviewTarget, steps: StepCounts | undefined) {
    this.#target = target;
    this.#steps = steps;
  }

  async add({ text, before, sent, refusals, isDropped, readAtMs, offset }: PreviewedEvent): Promise<void> {
    this.#inputs += 1;
    this.#sent += sent.length;
    count(
      this.#outcome,
      refusals.length > 0 ? 'dead_lettered' : isDropped ? 'dropped' : sent.length === 0 ? 'filtered' : 'sent',
    );
    const event = (before === undefined ? {} : JSON.parse(before)) as Record<string, unknown>;
    count(this.#format, this.#formatOf(event, text));
    count(this.#time, this.#timeOf(event, readAtMs));
    if (before !== undefined) await this.#steps?.add(before, this.#target.source.id, offset, readAtMs);
  }

  /** As `--json` prints it. */
  toObject({ emptyLines, truncatedEvents, typeErrors = 0, transformErrors }: PreviewCounts): object {
    return {
      inputs: this.#inputs,
      empty_lines: emptyLines,
      events: this.#sent,
      format: this.#format,
      time: this.#time,
      steps: this.#steps?.counts ?? [],
      outcome: this.#outcome,
      truncated: truncatedEvents,
      type_errors: typeErrors,
      transform_errors: transformErrors,
    };
  }

  toText(counts: PreviewCounts): string {
    const { emptyLines, truncatedEvents, typeErrors = 0, transformErrors } = counts;
    const rows: [string, string][] = [
      ['input', `${plural(this.#inputs, 'event')}${emptyLines > 0 ? `, ${plural(emptyLines, 'empty line')}` : ''}`],
      ['format', tallyText(this.#format)],
      ['time', tallyText(this.#time)],
      ...this.#stepRows(),
      ['outcome', tallyText(this.#outcome)],
      ['would send', plural(this.#sent, 'event')],
    ];
    if (truncatedEvents > 0) rows.push(['truncated', plural(truncatedEvents, 'event')]);
    if (typeErrors > 0) rows.push(['type errors', plural(typeErrors, 'value')]);
    if (transformErrors > 0) rows.push(['transform errors', plural(transformErrors, 'event')]);
    const width = Math.max(...rows.map(([name]) => name.length));
    return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('');
  }

  #stepRows(): [string, string][] {
    return (this.#steps?.counts ?? []).map(({ step, events, filtered, failed }) => {
      const lost = [
        ...(filtered > 0 ? [`filtered ${filtered.toLocaleString('en')}`] : []),
        ...(failed > 0 ? [`failed ${failed.toLocaleString('en')}`] : []),
      ];
      return ['step', `${quote(step)}: ${[`took ${events.toLocaleString('en')}`, ...lost].join(', ')}`];
    });
  }

  #formatOf(event: Readonly<Record<string, unknown>>, text: string): string {
    const { source } = this.#target;
    if (event['parse_error'] !== undefined) return 'failed';
    if (!readsLines(source)) return source.type;
    const { format, formats } = source;
    if (formats.length > 0) return 'one of formats';
    if (format !== 'auto') return format;
    return event['message'] === text.replaceAll('\r\n', '\n') ? 'text' : 'json';
  }

  #timeOf(event: Readonly<Record<string, unknown>>, readAtMs: number): string {
    if (event['time_error'] !== undefined) return 'failed';
    const { _time: time } = event;
    if (time === undefined) return 'left to the service';
    return time === new Date(readAtMs).toISOString() ? 'of the read' : 'own';
  }
}

function count(tally: Tally, name: string): void {
  tally[name] = (tally[name] ?? 0) + 1;
}

function tallyText(tally: Readonly<Tally>): string {
  return Object.entries(tally)
    .filter(([, lines]) => lines > 0)
    .map(([name, lines]) => `${name.replace('_', ' ')} ${lines.toLocaleString('en')}`)
    .join(', ');
}
