/** Addresses of networks, and URLs, as SQL. */
import { numberOf, readText } from '../../plan/literals.ts';
import { IPV4_PATTERN, IPV6_PATTERN, leadingBits, PRIVATE_NETWORKS, readNetwork, readNetwork6, URL_PATTERN, type NETWORK } from './spec.ts';
import { any, list, sql, type Sql } from '../../../service/query/values/sql.ts';
import { jsonString } from '../../../service/query/values/text.ts';
import { one, type Value } from '../../../service/query/values/value.ts';
import type { Builders, Call } from '../../../service/query/values/call.ts';

/** The address as a number; null where it is none. */
const addressOf = (text: Sql, { params }: Call): Sql =>
  sql`if(match(ifNull(${text}, ''), ${params.string(IPV4_PATTERN)}), toInt64(IPv4StringToNumOrDefault(ifNull(${text}, ''))), null)`;

const within = (address: Sql, networks: readonly { readonly first: number; readonly last: number }[]): Value =>
  one(
    'bool',
    sql`if(isNull(${address}), null, ${any(networks.map(({ first, last }) => sql`(${address} >= ${first} and ${address} <= ${last})`))})`,
  );

function isInRange(call: Call): Value {
  const network = readText(call, 1, readNetwork, 'a network such as 10.0.0.0/8');
  return within(addressOf(call.string(0), call), [network]);
}

/** How many leading bits count. */
const bitsOf = (call: Call, most: number): number => numberOf(call, 2, 'a number of bits', 0, most, most);

/** The leading bits of both addresses. */
function heads(call: Call): readonly [Sql, Sql] {
  const size = 2 ** (32 - bitsOf(call, 32));
  const [a, b] = [0, 1].map((n) => sql`intDiv(${addressOf(call.string(n), call)}, ${size})`);
  return [a!, b!];
}

/** The 32 hexadecimal digits of an address; null where the text is none. */
function digitsOf(text: Sql, { params }: Call): Sql {
  const solid = sql`ifNull(${text}, '')`;
  const digits = (address: Sql): Sql => sql`lower(hex(IPv6StringToNumOrDefault(${address})))`;
  return sql`multiIf(match(${solid}, ${params.string(IPV6_PATTERN)}), ${digits(solid)}, match(${solid}, ${params.string(IPV4_PATTERN)}), ${digits(sql`concat('::ffff:', ${solid})`)}, null)`;
}

/** The first bits as a text that sorts as they do, as `leadingBits` makes it. */
function head6(text: Sql, bits: number, call: Call): Sql {
  const [digits, whole] = [digitsOf(text, call), Math.floor(bits / 4)];
  const rest = sql`toString(bitShiftRight(reinterpretAsUInt8(unhex(concat('0', substring(${digits}, ${whole + 1}, 1)))), ${4 - (bits % 4)}))`;
  return bits % 4 === 0 ? sql`substring(${digits}, 1, ${whole})` : sql`concat(substring(${digits}, 1, ${whole}), ${rest})`;
}

function heads6(call: Call): readonly [Sql, Sql] {
  const bits = bitsOf(call, 128);
  return [head6(call.string(0), bits, call), head6(call.string(1), bits, call)];
}

const comparedBy = (build: (call: Call) => readonly [Sql, Sql]) => (call: Call): Value => {
  const [a, b] = build(call);
  return one('int', sql`if(isNull(${a}) or isNull(${b}), null, toInt64(multiIf(${a} = ${b}, 0, ${a} < ${b}, -1, 1)))`);
}; // prettier-ignore
const matchedBy = (build: (call: Call) => readonly [Sql, Sql]) => (call: Call): Value => {
  const [a, b] = build(call);
  return one('bool', sql`(${a} = ${b})`);
}; // prettier-ignore

function isInRange6(call: Call): Value {
  const network = readText(call, 1, readNetwork6, 'a network such as fd00::/8');
  return one(
    'bool',
    sql`(${head6(call.string(0), network.bits, call)} = ${call.params.string(leadingBits(network.digits, network.bits))})`,
  );
}

function parsed6(call: Call): Value {
  const digits = digitsOf(call.string(0), call);
  const groups = sql`arrayStringConcat(arrayMap(e -> substring(ifNull(${digits}, ''), e * 4 + 1, 4), range(8)), ':')`;
  return one('string', sql`if(isNull(${digits}), null, ${groups})`);
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
  ipv4_compare: comparedBy(heads),
  ipv4_is_match: matchedBy(heads),
  parse_ipv6: parsed6,
  ipv6_compare: comparedBy(heads6),
  ipv6_is_match: matchedBy(heads6),
  ipv6_is_in_range: isInRange6,
  parse_url: parsedUrl,
  parse_urlquery: (call) =>
    one('json', sql`if(isNull(${call.string(0)}), null, ${queryObject(sql`trimLeft(ifNull(${call.string(0)}, ''), '?')`)})`),
};
