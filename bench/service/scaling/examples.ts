/** Twenty questions that people ask of their logs, over the pino-like events of the benchmarks: the recipes of docs/query.md, then what finds, counts and charts. */

/** All events of the benchmarks lie between. */
export const START = '2026-01-01T00:00:00Z';
export const END = '2027-01-01T00:00:00Z';

export interface Example {
  readonly name: string;
  /** Behind the dataset and a pipe. */
  readonly text: string;
  /** Of the newest hour; otherwise of everything that is stored. */
  readonly lastHour?: true;
}

/** What some of them ask for: an event that is stored, and a time with others around it. */
export interface Known {
  readonly reqId: string;
  readonly seq: number;
  readonly time: string;
}

export function examplesOf({ reqId, seq, time }: Known): readonly Example[] {
  return [
    {
      name: 'errors by service, last hour',
      text: 'where level >= 50 | summarize errors = count() by name | sort by errors desc',
      lastHour: true,
    },
    {
      name: 'slowest endpoints',
      text: "extend path = extract('^/api/v1/[a-z]+', 0, ['req.url']) | summarize requests = count(), p95 = percentile(responseTime, 95), slowest = max(responseTime) by path | top 10 by p95",
    },
    {
      name: 'what changed at one time',
      text: `where _time between (datetime(${time}) - 10m .. datetime(${time}) + 10m) | summarize before = countif(_time < datetime(${time})), after = countif(_time >= datetime(${time})) by name, msg | extend change = after - before | top 10 by change`,
    },
    { name: 'one trace', text: `where reqId == "${reqId}" | project _time, name, msg | sort by _time asc` },
    {
      name: 'top talkers',
      text: "summarize requests = count(), total = sum(['res.bytes']) by hostname | top 10 by total",
    },
    { name: 'latest 1,000', text: 'sort by _time desc | take 1000' },
    { name: 'latest 100 errors', text: 'where level >= 50 | take 100' },
    { name: 'one event by number', text: `where seq == ${seq}` },
    { name: 'one status, counted', text: "where ['res.statusCode'] == 500 | count" },
    { name: 'has a word, counted', text: 'where msg has "timeout" | count' },
    { name: 'contains a text, counted', text: 'where msg contains "timeout" | count' },
    { name: 'regular expression, counted', text: 'where msg matches regex "time(out|d out)" | count' },
    { name: 'search in all fields, last hour', text: 'search "snapshot" | count', lastHour: true },
    { name: 'events over time', text: 'summarize count() by bin_auto(_time)' },
    {
      name: 'failures over time by status',
      text: "where ['res.statusCode'] >= 400 | summarize count() by bin_auto(_time), ['res.statusCode']",
    },
    {
      name: 'percentiles over time',
      text: 'summarize percentile(responseTime, 50), percentile(responseTime, 95), percentile(responseTime, 99) by bin_auto(_time)',
    },
    { name: 'commonest messages', text: 'summarize topk(msg, 10)' },
    { name: 'different requests', text: 'summarize dcount(reqId)' },
    { name: 'commonest of millions of URLs', text: "summarize requests = count() by ['req.url'] | top 10 by requests" },
    {
      name: 'share of failures by service',
      text: "summarize total = count(), failed = countif(['res.statusCode'] >= 500) by name | extend share = round(100.0 * failed / total, 2) | sort by share desc",
    },
  ];
}
