/** A strict reader of the Prometheus text format 0.0.4: throws at anything that a scraper could stumble over. */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: Sample[];
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`, 's');
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/;
const SUFFIXES: Record<string, readonly string[]> = {
  histogram: ['_bucket', '_sum', '_count'],
  counter: [''],
  gauge: [''],
};

/** The families by name. */
export function parsePrometheus(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  let current: Family | undefined;
  let help: { name: string; text: string } | undefined;
  for (const line of text.slice(0, -1).split('\n')) {
    if (line === '') continue;
    const comment = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`).exec(line);
    if (comment) {
      const [, kind, name, rest] = comment as unknown as [string, string, string, string];
      if (kind === 'HELP') help = { name, text: rest };
      else {
        if (families.has(name)) throw new Error(`${name} has two TYPE lines`);
        if (help?.name !== name) throw new Error(`${name} has no HELP line before its TYPE`);
        if (!(rest in SUFFIXES)) throw new Error(`${name} has the unknown type ${rest}`);
        current = { name, type: rest, help: help.text, samples: [] };
        families.set(name, current);
      }
      continue;
    }
    const match = SAMPLE.exec(line);
    if (!match) throw new Error(`not a sample: ${line}`);
    const [, name, labelText = '', valueText] = match as unknown as [string, string, string | undefined, string];
    const family = current;
    if (!family || !SUFFIXES[family.type]!.some((suffix) => name === family.name + suffix))
      throw new Error(`sample outside of its family: ${line}`);
    const labels = parseLabels(labelText, line);
    const identity = `${name} ${JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))}`;
    if (seen.has(identity)) throw new Error(`the same sample twice: ${line}`);
    seen.add(identity);
    family.samples.push({ name, labels, value: parseValue(valueText, line) });
  }
  for (const family of families.values()) checkFamily(family);
  return families;
}

/** The value of the one sample of a counter or gauge with exactly these labels; undefined without one. */
export function valueOf(
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const wanted = Object.entries(labels);
  return families
    .get(name)
    ?.samples.find(
      (sample) =>
        Object.keys(sample.labels).length === wanted.length &&
        wanted.every(([key, value]) => sample.labels[key] === value),
    )?.value;
}

function parseLabels(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (let rest = text; rest !== '';) {
    const match = LABEL.exec(rest);
    if (!match) throw new Error(`bad labels: ${line}`);
    const [whole, name, value] = match as unknown as [string, string, string];
    if (name in labels) throw new Error(`a label twice: ${line}`);
    labels[name] = value.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
    rest = rest.slice(whole.length);
  }
  return labels;
}

function parseValue(text: string, line: string): number {
  if (text === '+Inf') return Infinity;
  if (!/^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(text)) throw new Error(`bad value: ${line}`);
  return Number(text);
}

function checkFamily({ name, type, samples }: Family): void {
  if (type === 'counter' && !name.endsWith('_total')) throw new Error(`the counter ${name} does not end in _total`);
  if (type === 'counter' && samples.some(({ value }) => !(value >= 0)))
    throw new Error(`the counter ${name} is negative`);
  if (type !== 'histogram') return;
  const series = new Map<string, Sample[]>();
  for (const sample of samples) {
    const { le: _le, ...labels } = sample.labels;
    const key = JSON.stringify(labels);
    series.set(key, [...(series.get(key) ?? []), sample]);
  }
  for (const [key, each] of series) {
    const buckets = each
      .filter((sample) => sample.name === `${name}_bucket`)
      .map(({ labels, value }) => [boundOf(labels['le'], name), value] as const);
    const count = each.find((sample) => sample.name === `${name}_count`)?.value;
    const sum = each.find((sample) => sample.name === `${name}_sum`)?.value;
    if (count === undefined || sum === undefined) throw new Error(`${name}${key} has no sum or no count`);
    const last = buckets.at(-1);
    if (last?.[0] !== Infinity || last[1] !== count) throw new Error(`${name}${key}: its +Inf bucket is not its count`);
    buckets.forEach(([bound, value], i) => {
      const before = buckets[i - 1];
      if (before && !(bound > before[0] && value >= before[1]))
        throw new Error(`${name}${key}: its buckets do not grow`);
    });
  }
}

function boundOf(text: string | undefined, name: string): number {
  const bound = text === '+Inf' ? Infinity : Number(text);
  if (text === undefined || Number.isNaN(bound)) throw new Error(`${name}: a bucket without a bound`);
  return bound;
}
