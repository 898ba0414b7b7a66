/** Addresses of networks, and URLs, as SQL. */
import { numberOf } from '../../plan/literals.ts';
import {
  ADDRESS_GAPS,
  bitsOf,
  IPV4_IN_IPV6,
  maskOf,
  networksOf,
  type Network4,
  PREFIXED_IPV4_PATTERN,
  PREFIXED_IPV6_PATTERN,
  PRIVATE_NETWORKS,
  readNetwork,
  readNetwork6,
  readPrefix,
  URL_PATTERN,
  type NETWORK,
} from './spec.ts';
import { any, first, list, sql, type Sql } from '../../../service/query/values/sql.ts';
import { jsonString } from '../../../service/query/values/text.ts';
import { one, oneRequired, type SqlValue } from '../../../service/query/values/value.ts';
import { jsonText, once, textOf } from '../arrays/sql.ts';
import type { SqlBuild, SqlBuilders, SqlCall } from '../../../service/query/values/call.ts';

const solid = (text: Sql): Sql => sql`ifNull(${text}, '')`;
const host = (text: Sql): Sql => sql`substringIndex(${solid(text)}, '/', 1)`;
const isAddress = (text: Sql, pattern: string, { params }: SqlCall): Sql =>
  sql`match(${solid(text)}, ${params.string(pattern)})`;
const isPrefixed = (text: Sql): Sql => sql`position(${solid(text)}, '/') > 0`;
const prefix = (text: Sql): Sql => sql`toUInt8OrZero(substringIndex(${solid(text)}, '/', -1))`;

/** The leading bits of an IPv4 address that count. */
const bits4 = (text: Sql): Sql => sql`if(${isPrefixed(text)}, ${prefix(text)}, 32)`;
const head4 = (text: Sql, bits: Sql, call: SqlCall): Sql =>
  sql`if(${isAddress(text, PREFIXED_IPV4_PATTERN, call)}, intDiv(toInt64(IPv4StringToNumOrDefault(${host(text)})), toInt64(exp2(32 - ${bits}))), null)`;

/** The address, or the first one of the network, as a number; null if invalid. */
const addressOf = (text: Sql, call: SqlCall): Sql =>
  sql`(${head4(text, bits4(text), call)} * toInt64(exp2(32 - ${bits4(text)})))`;

const within = (address: Sql, networks: readonly Network4[]): SqlValue =>
  one(
    'bool',
    sql`if(isNull(${address}), null, ${any(networks.map(({ first, last }) => sql`(${address} >= ${first} and ${address} <= ${last})`))})`,
  );

const isInRange: SqlBuild = (call) =>
  within(addressOf(call.string(0), call), networksOf(call, readNetwork, 'a network such as 10.0.0.0/8'));

/** Whether one of the addresses in a text is in one of the networks. */
const found =
  (read: (text: string) => Network4 | undefined, wanted: string): SqlBuild =>
  (call) => {
    const text = call.string(0);
    const parts = sql`arrayMap(e -> replaceRegexpOne(replaceRegexpOne(e, '^[.]+', ''), '[.]+$', ''), splitByRegexp(${call.params.string(ADDRESS_GAPS)}, ${solid(text)}))`;
    const isIn = within(addressOf(sql`e`, call), networksOf(call, read, wanted)).facets.bool!;
    return one('bool', sql`if(isNull(${text}), null, arrayExists(e -> ifNull(${isIn}, false), ${parts}))`);
  };

/** An IPv4 address of a number or a text, of the network of so many leading bits the first one. */
function written(call: SqlCall): SqlValue {
  const bits = numberOf(call, 1, 'a number of bits', 0, 32, 32);
  const { string } = call.value(0).facets;
  const number = first([...(string ? [addressOf(string, call)] : []), call.int(0)]);
  const there = sql`if(${number} >= 0 and ${number} < 4294967296, ${number}, null)`;
  return oneRequired('string', sql`ifNull(IPv4NumToString(toUInt32(bitAnd(${there}, ${maskOf(bits)}))), '')`);
}

function formattedUrl(call: SqlCall): SqlValue {
  const json = jsonText(call.value(0));
  const part = (name: string): Sql =>
    sql`${textOf(sql`JSONExtractRaw(ifNull(${json}, ''), ${call.params.string(name)})`)}`;
  const prefixed = (before: string, text: Sql, after = ''): Sql =>
    sql`if(${text} = '', '', concat(${call.params.string(before)}, ${text}, ${call.params.string(after)}))`;
  const made = once(
    'ur',
    ['scheme', 'host', 'user', 'username', 'password', 'port', 'path', 'query', 'fragment'].map(part),
    ([scheme, host, user, username, password, port, path, query, fragment]) => {
      const pairs = sql`arrayStringConcat(arrayMap(e -> concat(e.1, '=', ${textOf(sql`e.2`)}), JSONExtractKeysAndValuesRaw(${query!})), '&')`;
      const name = sql`if(${user!} = '', ${username!}, ${user!})`;
      const credentials = sql`if(${name} = '', '', concat(${name}, ${prefixed(':', password!)}, '@'))`;
      const whole = sql`concat(${scheme!}, '://', ${credentials}, ${host!}, ${prefixed(':', port!)}, ${path!}, ${prefixed('?', sql`if(startsWith(${query!}, '{'), ${pairs}, ${query!})`)}, ${prefixed('#', fragment!)})`;
      return sql`if(${scheme!} = '' or ${host!} = '', null, ${whole})`;
    },
  );
  return one('string', sql`if(startsWith(ifNull(${json}, ''), '{'), ${made}, null)`);
}

/** The leading bits of both addresses. */
function heads(call: SqlCall): readonly [Sql, Sql] {
  const [a, b] = [call.string(0), call.string(1)];
  const bits = sql`least(${bits4(a)}, ${bits4(b)}, ${bitsOf(call, 32)})`;
  return [head4(a, bits, call), head4(b, bits, call)];
}

const bits6 = (text: Sql, call: SqlCall): Sql =>
  sql`if(${isPrefixed(text)}, ${prefix(text)} + if(${isAddress(text, PREFIXED_IPV4_PATTERN, call)}, ${IPV4_IN_IPV6}, 0), 128)`;

/** The leading bits of an address as a text of 0 and 1, IPv4 as `::ffff:a.b.c.d`; null if invalid. */
function head6(text: Sql, bits: Sql, call: SqlCall): Sql {
  const head = (address: Sql): Sql => sql`substring(bin(IPv6StringToNumOrDefault(${address})), 1, ${bits})`;
  return sql`multiIf(${isAddress(text, PREFIXED_IPV6_PATTERN, call)}, ${head(host(text))}, ${isAddress(text, PREFIXED_IPV4_PATTERN, call)}, ${head(sql`concat('::ffff:', ${host(text)})`)}, null)`;
}

function heads6(call: SqlCall): readonly [Sql, Sql] {
  const [a, b] = [call.string(0), call.string(1)];
  const bits = sql`least(${bits6(a, call)}, ${bits6(b, call)}, ${bitsOf(call, 128)})`;
  return [head6(a, bits, call), head6(b, bits, call)];
}

const comparedBy =
  (build: (call: SqlCall) => readonly [Sql, Sql]) =>
  (call: SqlCall): SqlValue => {
    const [a, b] = build(call);
    return one(
      'int',
      sql`if(isNull(${a}) or isNull(${b}), null, toInt64(multiIf(${a} = ${b}, 0, ${a} < ${b}, -1, 1)))`,
    );
  };
const matchedBy =
  (build: (call: SqlCall) => readonly [Sql, Sql]) =>
  (call: SqlCall): SqlValue => {
    const [a, b] = build(call);
    return one('bool', sql`(${a} = ${b})`);
  };

function isInRange6(call: SqlCall): SqlValue {
  const tests = networksOf(call, readNetwork6, 'a network such as fd00::/8').map(({ digits, bits }) => {
    const wanted = BigInt(`0x${digits}`).toString(2).padStart(128, '0').slice(0, bits);
    return sql`(${head6(call.string(0), sql`${bits}`, call)} = ${call.params.string(wanted)})`;
  });
  return one('bool', any(tests));
}

function parsed6(call: SqlCall): SqlValue {
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

function parsedUrl(call: SqlCall): SqlValue {
  const text = sql`ifNull(${call.string(0)}, '')`;
  const groups = sql`extractGroups(${text}, ${call.params.string(`(?s)${URL_PATTERN}`)})`;
  const group = (n: number): Sql => sql`${groups}[${n}]`;
  const names = ['scheme', 'username', 'password', 'host', 'port', 'path'] as const;
  const plain = (['scheme', 'host', 'port', 'path', 'username', 'password'] as const).map(
    (name) => sql`${call.params.string(`"${name}":`)}, ${jsonString(group(names.indexOf(name) + 1))}`,
  );
  const json = sql`concat('{', ${list(plain.flatMap((part) => [part, sql`','`]))}, '"query":', ${queryObject(group(7))}, ',"fragment":', ${jsonString(group(8))}, '}')`;
  return one('json', sql`if(empty(${groups}), null, ${json})`);
}

export const NETWORK_SQL: SqlBuilders<typeof NETWORK> = {
  parse_ipv4: (call) => one('int', addressOf(call.string(0), call)),
  ipv4_is_private: (call) => within(addressOf(call.string(0), call), PRIVATE_NETWORKS),
  ipv4_is_in_range: isInRange,
  ipv4_is_in_any_range: isInRange,
  ipv4_netmask_suffix: (call) => {
    const text = call.string(0);
    return one(
      'int',
      sql`if(${isPrefixed(text)} and ${isAddress(text, PREFIXED_IPV4_PATTERN, call)}, toInt64(${prefix(text)}), null)`,
    );
  },
  parse_ipv4_mask: (call) =>
    one(
      'int',
      sql`bitAnd(${addressOf(call.string(0), call)}, ${maskOf(numberOf(call, 1, 'a number of bits', 0, 32))})`,
    ),
  format_ipv4: written,
  format_ipv4_mask: (call) =>
    one(
      'string',
      sql`if(${call.int(0)} >= 0 and ${call.int(0)} <= 32, IPv4NumToString(toUInt32(4294967296 - toInt64(exp2(32 - ${call.int(0)})))), null)`,
    ),
  has_ipv4: found(readNetwork, 'an address such as 10.1.2.3'),
  has_any_ipv4: found(readNetwork, 'addresses such as 10.1.2.3'),
  has_ipv4_prefix: found(readPrefix, 'the beginning of an address, such as 10.1.'),
  has_any_ipv4_prefix: found(readPrefix, 'beginnings of addresses, such as 10.1.'),
  ipv4_compare: comparedBy(heads),
  ipv4_is_match: matchedBy(heads),
  parse_ipv6: parsed6,
  ipv6_compare: comparedBy(heads6),
  ipv6_is_match: matchedBy(heads6),
  ipv6_is_in_range: isInRange6,
  ipv6_is_in_any_range: isInRange6,
  parse_url: parsedUrl,
  format_url: formattedUrl,
  parse_urlquery: (call) =>
    one(
      'json',
      sql`if(isNull(${call.string(0)}), null, ${queryObject(sql`trimLeft(ifNull(${call.string(0)}, ''), '?')`)})`,
    ),
};
