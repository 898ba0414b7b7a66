/** Addresses of networks, and URLs, of one row. */
import { numberOf } from '../../plan/literals.ts';
import {
  ADDRESS_GAPS,
  bitsOf,
  addressText,
  IPV4_IN_IPV6,
  leadingBits,
  maskOf,
  networksOf,
  type Network4,
  type Network6,
  PRIVATE_NETWORKS,
  readAddress4,
  readNetwork,
  readNetwork6,
  readPrefix,
  URL_PATTERN,
  type NETWORK,
} from './spec.ts';
import type { Evaluate, Of, RowBuild, RowBuilders, RowCall } from '../../../shaping/rows/call/call.ts';
import { lift1, lift2, ofInt, ofText, ofValue } from '../../../shaping/rows/call/lift.ts';
import { asInt, heldText } from '../../../shaping/rows/values/convert.ts';
import { bounded } from '../../../shaping/rows/values/text.ts';
import { isObject, type RowValue } from '../../../shaping/rows/values/value.ts';

const URL_PARTS = new RegExp(URL_PATTERN, 's');
const GAPS = new RegExp(ADDRESS_GAPS);

/** The address, or the first one of the network, as a number; null if invalid. */
const addressOf = (text: Of<string | null>): Of<number | null> =>
  lift1(text, (found) => (readAddress4(found) ? readNetwork(found)!.first : null));

const within = (call: RowCall, networks: readonly Network4[]): Evaluate =>
  lift1(addressOf(call.string(0)), (address) =>
    networks.some(({ first, last }) => address >= first && address <= last),
  );

const isInRange: RowBuild = (call) => within(call, networksOf(call, readNetwork, 'a network such as 10.0.0.0/8'));

/** Whether one of the addresses in a text is in one of the networks. */
const found =
  (read: (text: string) => Network4 | undefined, wanted: string): RowBuild =>
  (call) => {
    const networks = networksOf(call, read, wanted);
    return lift1(call.string(0), (text) =>
      text.split(GAPS).some((part) => {
        const name = part.replace(/^\.+/, '').replace(/(?<!\.)\.+$/, '');
        const address = readAddress4(name) && readNetwork(name)!.first;
        return address !== undefined && networks.some(({ first, last }) => address >= first && address <= last);
      }),
    );
  };

/** An IPv4 address of a number or a text, of the network of so many leading bits the first one. */
function written(call: RowCall): Evaluate {
  const [value, bits] = [call.value(0), numberOf(call, 1, 'a number of bits', 0, 32, 32)];
  return (scope) => {
    const given = value(scope);
    const isAddress = typeof given === 'string' && readAddress4(given) !== undefined;
    const number = isAddress ? readNetwork(given)!.first : typeof given === 'string' ? null : asInt(given);
    return number === null || number < 0 || number >= 2 ** 32 ? '' : addressText((Number(number) & maskOf(bits)) >>> 0);
  };
}

/** `fromEnd`: bits of the texts' own kind of address count behind these. */
const compared =
  (read: (text: string) => Network6 | undefined, fromEnd: number, build: (order: -1 | 0 | 1) => RowValue): RowBuild =>
  (call) => {
    const most = bitsOf(call, 128 - fromEnd) + fromEnd;
    return lift2(call.string(0), call.string(1), (first, second) => {
      const [a, b] = [read(first), read(second)];
      if (!a || !b) return null;
      const bits = Math.min(a.bits, b.bits, most);
      const [head, other] = [leadingBits(a.digits, bits), leadingBits(b.digits, bits)];
      return build(head === other ? 0 : head < other ? -1 : 1);
    });
  };

/** The network's first address, as groups of digits. */
function parsed6(text: string): string | null {
  const found = readNetwork6(text);
  if (!found) return null;
  const rest = BigInt(128 - found.bits);
  const first = (BigInt(`0x${found.digits}`) >> rest) << rest;
  return first.toString(16).padStart(32, '0').match(/.{4}/g)!.join(':');
}

function isInRange6(call: RowCall): Evaluate {
  const networks = networksOf(call, readNetwork6, 'a network such as fd00::/8');
  return lift1(call.string(0), (text) => {
    const address = readNetwork6(text);
    return address
      ? networks.some(({ digits, bits }) => leadingBits(address.digits, bits) === leadingBits(digits, bits))
      : null;
  });
}

/** Decodes forms: `+` is a blank, and text other than `%XX` stays. */
const decoded = (text: string): string =>
  text
    .replaceAll('+', ' ')
    .replaceAll(/(?:%[0-9A-Fa-f]{2})+/g, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString());

/** Made as JSON text, so that a name such as `__proto__` is a name like any other. */
function queryObject(query: string): RowValue {
  const pairs = new Map<string, string>();
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const at = pair.indexOf('=');
    const name = decoded(at < 0 ? pair : pair.slice(0, at));
    if (!pairs.has(name)) pairs.set(name, at < 0 ? '' : decoded(pair.slice(at + 1)));
  }
  return JSON.parse(
    `{${[...pairs].map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`,
  ) as RowValue;
}

const parsedUrl = ofText((text) => {
  const found = URL_PARTS.exec(text);
  if (!found) return null;
  const [, scheme = '', username = '', password = '', host = '', port = '', path = '', query = '', fragment = ''] =
    found;
  return { scheme, host, port, path, username, password, query: queryObject(query), fragment };
});

const formattedUrl = ofValue((value) => {
  if (!isObject(value)) return null;
  const part = (name: string, before = '', after = ''): string => {
    const text = Object.hasOwn(value, name) ? heldText(value[name]) : null;
    return text === null || text === '' ? '' : `${before}${text}${after}`;
  };
  const { query } = value;
  const pairs = isObject(query)
    ? Object.entries(query)
        .map(([name, text]) => `${name}=${heldText(text) ?? ''}`)
        .join('&')
    : part('query');
  const user = part('user') || part('username');
  if (part('scheme') === '' || part('host') === '') return null;
  const credentials = user === '' ? '' : `${user}${part('password', ':')}@`;
  return bounded(
    `${part('scheme')}://${credentials}${part('host')}${part('port', ':')}${part('path')}${pairs === '' ? '' : `?${pairs}`}${part('fragment', '#')}`,
  );
});

export const NETWORK_ROWS: RowBuilders<typeof NETWORK> = {
  parse_ipv4: (call) => lift1(addressOf(call.string(0)), BigInt),
  ipv4_is_private: (call) => within(call, PRIVATE_NETWORKS),
  ipv4_is_in_range: isInRange,
  ipv4_is_in_any_range: isInRange,
  ipv4_netmask_suffix: ofText((text) =>
    text.includes('/') && readAddress4(text) ? BigInt(text.split('/')[1]!) : null,
  ),
  parse_ipv4_mask: (call) => {
    const bits = numberOf(call, 1, 'a number of bits', 0, 32);
    return lift1(addressOf(call.string(0)), (address) => BigInt((address & maskOf(bits)) >>> 0));
  },
  format_ipv4: written,
  format_ipv4_mask: ofInt((bits) => (bits < 0n || bits > 32n ? null : addressText(maskOf(Number(bits))))),
  has_ipv4: found(readNetwork, 'an address such as 10.1.2.3'),
  has_any_ipv4: found(readNetwork, 'addresses such as 10.1.2.3'),
  has_ipv4_prefix: found(readPrefix, 'the beginning of an address, such as 10.1.'),
  has_any_ipv4_prefix: found(readPrefix, 'beginnings of addresses, such as 10.1.'),
  ipv4_compare: compared(readAddress4, IPV4_IN_IPV6, BigInt),
  ipv4_is_match: compared(readAddress4, IPV4_IN_IPV6, (order) => order === 0),
  parse_ipv6: ofText(parsed6),
  ipv6_compare: compared(readNetwork6, 0, BigInt),
  ipv6_is_match: compared(readNetwork6, 0, (order) => order === 0),
  ipv6_is_in_range: isInRange6,
  ipv6_is_in_any_range: isInRange6,
  parse_url: parsedUrl,
  format_url: formattedUrl,
  parse_urlquery: ofText((text) => queryObject(text.replace(/^\?+/, ''))),
};
