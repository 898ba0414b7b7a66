/** Addresses of networks, and URLs, as SQL. */
import { IPV4_PATTERN, PRIVATE_NETWORKS, readNetwork, URL_PATTERN, type NETWORK } from '../../../language/functions/network.ts';
import { any, list, sql, type Sql } from '../sql/sql.ts';
import { jsonString } from '../sql/text.ts';
import { one, type Value } from '../sql/value.ts';
import type { Builders, Call } from './call.ts';

/** The address as a number; null where it is none. */
const addressOf = (text: Sql, { params }: Call): Sql =>
  sql`if(match(ifNull(${text}, ''), ${params.string(IPV4_PATTERN)}), toInt64(IPv4StringToNumOrDefault(ifNull(${text}, ''))), null)`;

const within = (address: Sql, networks: readonly { readonly first: number; readonly last: number }[]): Value =>
  one(
    'bool',
    sql`if(isNull(${address}), null, ${any(networks.map(({ first, last }) => sql`(${address} >= ${first} and ${address} <= ${last})`))})`,
  );

function isInRange(call: Call): Value {
  const network = readNetwork(String(call.constant(1).value));
  if (!network) throw call.fail(1, 'wanted a network such as 10.0.0.0/8');
  return within(addressOf(call.string(0), call), [network]);
}

function compared(call: Call): Value {
  const bits = call.count > 2 ? Number(call.constant(2).value) : 32;
  if (bits < 0 || bits > 32) throw call.fail(2, 'wanted a number of bits from 0 to 32');
  const size = 2 ** (32 - bits);
  const [a, b] = [0, 1].map((n) => sql`intDiv(${addressOf(call.string(n), call)}, ${size})`);
  return one('int', sql`if(isNull(${a!}) or isNull(${b!}), null, toInt64(multiIf(${a!} = ${b!}, 0, ${a!} < ${b!}, -1, 1)))`);
}

/** `{"name": "value"}` of the pairs in a query, the first of each name. */
function queryObject(query: Sql): Sql {
  const pairs = sql`arrayFilter(e -> e != '', splitByChar('&', ${query}))`;
  const name = (pair: Sql): Sql => sql`decodeURLFormComponent(substringIndex(${pair}, '=', 1))`;
  const value = sql`decodeURLFormComponent(if(position(e, '=') = 0, '', substring(e, position(e, '=') + 1)))`;
  const names = sql`arrayMap(x -> ${name(sql`x`)}, ${pairs})`;
  const firsts = sql`arrayFilter((e, n) -> indexOf(${names}, ${name(sql`e`)}) = n, ${pairs}, arrayEnumerate(${pairs}))`;
  const members = sql`arrayMap(e -> concat(${jsonString(name(sql`e`))}, ':', ${jsonString(value)}), ${firsts})`;
  return sql`concat('{', arrayStringConcat(${members}, ','), '}')`;
}

function parsedUrl(call: Call): Value {
  const text = sql`ifNull(${call.string(0)}, '')`;
  const groups = sql`extractGroups(${text}, ${call.params.string(`(?s)${URL_PATTERN}`)})`;
  const group = (n: number): Sql => sql`${groups}[${n}]`;
  const names = ['scheme', 'username', 'password', 'host', 'port', 'path'] as const;
  const plain = (['scheme', 'host', 'port', 'path', 'username', 'password'] as const).map((name) => sql`${call.params.string(`"${name}":`)}, ${jsonString(group(names.indexOf(name) + 1))}`);
  const json = sql`concat('{', ${list(plain.flatMap((part) => [part, sql`','`]))}, '"query":', ${queryObject(group(7))}, ',"fragment":', ${jsonString(group(8))}, '}')`;
  return one('json', sql`if(empty(${groups}), null, ${json})`);
} // prettier-ignore

export const NETWORK_SQL: Builders<typeof NETWORK> = {
  parse_ipv4: (call) => one('int', addressOf(call.string(0), call)),
  ipv4_is_private: (call) => within(addressOf(call.string(0), call), PRIVATE_NETWORKS),
  ipv4_is_in_range: isInRange,
  ipv4_compare: compared,
  parse_url: parsedUrl,
  parse_urlquery: (call) =>
    one('json', sql`if(isNull(${call.string(0)}), null, ${queryObject(sql`trimLeft(ifNull(${call.string(0)}, ''), '?')`)})`),
};
