/** Addresses of networks, and URLs, as SQL. */
import { numberOf, readText } from '../../plan/literals.ts';
import {
  IPV4_IN_IPV6,
  PREFIXED_IPV4_PATTERN,
  PREFIXED_IPV6_PATTERN,
  PRIVATE_NETWORKS,
  readNetwork,
  readNetwork6,
  URL_PATTERN,
  type NETWORK,
} from './spec.ts';
import { any, list, sql, type Sql } from '../../../service/query/values/sql.ts';
import { jsonString } from '../../../service/query/values/text.ts';
import { one, type Value } from '../../../service/query/values/value.ts';
import type { Builders, Call } from '../../../service/query/values/call.ts';

const solid = (text: Sql): Sql => sql`ifNull(${text}, '')`;
const host = (text: Sql): Sql => sql`substringIndex(${solid(text)}, '/', 1)`;
const isAddress = (text: Sql, pattern: string, { params }: Call): Sql => sql`match(${solid(text)}, ${params.string(pattern)})`;
const isPrefixed = (text: Sql): Sql => sql`position(${solid(text)}, '/') > 0`;
const prefix = (text: Sql): Sql => sql`toUInt8OrZero(substringIndex(${solid(text)}, '/', -1))`;

/** The leading bits of an IPv4 address that count. */
const bits4 = (text: Sql): Sql => sql`if(${isPrefixed(text)}, ${prefix(text)}, 32)`;
const head4 = (text: Sql, bits: Sql, call: Call): Sql =>
  sql`if(${isAddress(text, PREFIXED_IPV4_PATTERN, call)}, intDiv(toInt64(IPv4StringToNumOrDefault(${host(text)})), toInt64(exp2(32 - ${bits}))), null)`;

/** The address, or the first one of the network, as a number; null where it is none. */
const addressOf = (text: Sql, call: Call): Sql => sql`(${head4(text, bits4(text), call)} * toInt64(exp2(32 - ${bits4(text)})))`;

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
  const [a, b] = [call.string(0), call.string(1)];
  const bits = sql`least(${bits4(a)}, ${bits4(b)}, ${bitsOf(call, 32)})`;
  return [head4(a, bits, call), head4(b, bits, call)];
}

const bits6 = (text: Sql, call: Call): Sql =>
  sql`if(${isPrefixed(text)}, ${prefix(text)} + if(${isAddress(text, PREFIXED_IPV4_PATTERN, call)}, ${IPV4_IN_IPV6}, 0), 128)`;

/** The leading bits of an address as a text of 0 and 1, IPv4 as `::ffff:a.b.c.d`; null where the text is none. */
function head6(text: Sql, bits: Sql, call: Call): Sql {
  const head = (address: Sql): Sql => sql`substring(bin(IPv6StringToNumOrDefault(${address})), 1, ${bits})`;
  return sql`multiIf(${isAddress(text, PREFIXED_IPV6_PATTERN, call)}, ${head(host(text))}, ${isAddress(text, PREFIXED_IPV4_PATTERN, call)}, ${head(sql`concat('::ffff:', ${host(text)})`)}, null)`;
}

function heads6(call: Call): readonly [Sql, Sql] {
  const [a, b] = [call.string(0), call.string(1)];
  const bits = sql`least(${bits6(a, call)}, ${bits6(b, call)}, ${bitsOf(call, 128)})`;
  return [head6(a, bits, call), head6(b, bits, call)];
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
  const { digits, bits } = readText(call, 1, readNetwork6, 'a network such as fd00::/8');
  const wanted = BigInt(`0x${digits}`).toString(2).padStart(128, '0').slice(0, bits);
  return one('bool', sql`(${head6(call.string(0), sql`${bits}`, call)} = ${call.params.string(wanted)})`);
}

function parsed6(call: Call): Value {
  const text = call.string(0);
  const digits = sql`lower(hex(unbin(rightPad(${head6(text, bits6(text, call), call)}, 128, '0'))))`;
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
