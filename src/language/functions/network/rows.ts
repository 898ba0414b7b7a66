/** Addresses of networks, and URLs, of one row. */
import { numberOf, readText } from '../../plan/literals.ts';
import {
  IPV4_IN_IPV6,
  leadingBits,
  type Network6,
  PRIVATE_NETWORKS,
  readAddress4,
  readNetwork,
  readNetwork6,
  URL_PATTERN,
  type NETWORK,
} from './spec.ts';
import type { Build, Builders, Call, Evaluate, Of } from '../../../shaping/rows/call/call.ts';
import { lift1, lift2, ofText } from '../../../shaping/rows/call/lift.ts';
import type { Value } from '../../../shaping/rows/values/value.ts';

const URL_PARTS = new RegExp(URL_PATTERN, 's');

/** The address, or the first one of the network, as a number; null where it is none. */
const addressOf = (text: Of<string | null>): Of<number | null> =>
  lift1(text, (found) => (readAddress4(found) ? readNetwork(found)!.first : null));

const within = (call: Call, networks: readonly { readonly first: number; readonly last: number }[]): Evaluate =>
  lift1(addressOf(call.string(0)), (address) => networks.some(({ first, last }) => address >= first && address <= last));

function isInRange(call: Call): Evaluate {
  const network = readText(call, 1, readNetwork, 'a network such as 10.0.0.0/8');
  return within(call, [network]);
}

/** How many leading bits count. */
const bitsOf = (call: Call, most: number): number => numberOf(call, 2, 'a number of bits', 0, most, most);

/** `fromEnd`: bits of the texts' own kind of address count behind these. */
const compared =
  (read: (text: string) => Network6 | undefined, fromEnd: number, build: (order: -1 | 0 | 1) => Value): Build =>
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

function isInRange6(call: Call): Evaluate {
  const network = readText(call, 1, readNetwork6, 'a network such as fd00::/8');
  const wanted = leadingBits(network.digits, network.bits);
  return lift1(call.string(0), (text) => {
    const address = readNetwork6(text);
    return address ? leadingBits(address.digits, network.bits) === wanted : null;
  });
}

/** As forms are encoded: `+` is a blank, and what is no `%XX` stays. */
const decoded = (text: string): string =>
  text.replaceAll('+', ' ').replaceAll(/(?:%[0-9A-Fa-f]{2})+/g, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString());

/** Made as JSON text, so that a name such as `__proto__` is a name like any other. */
function queryObject(query: string): Value {
  const pairs = new Map<string, string>();
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const at = pair.indexOf('=');
    const name = decoded(at < 0 ? pair : pair.slice(0, at));
    if (!pairs.has(name)) pairs.set(name, at < 0 ? '' : decoded(pair.slice(at + 1)));
  }
  return JSON.parse(`{${[...pairs].map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`) as Value;
}

const parsedUrl = ofText((text) => {
  const found = URL_PARTS.exec(text);
  if (!found) return null;
  const [, scheme = '', username = '', password = '', host = '', port = '', path = '', query = '', fragment = ''] = found;
  return { scheme, host, port, path, username, password, query: queryObject(query), fragment };
});

export const NETWORK_ROWS: Builders<typeof NETWORK> = {
  parse_ipv4: (call) => lift1(addressOf(call.string(0)), BigInt),
  ipv4_is_private: (call) => within(call, PRIVATE_NETWORKS),
  ipv4_is_in_range: isInRange,
  ipv4_compare: compared(readAddress4, IPV4_IN_IPV6, BigInt),
  ipv4_is_match: compared(readAddress4, IPV4_IN_IPV6, (order) => order === 0),
  parse_ipv6: ofText(parsed6),
  ipv6_compare: compared(readNetwork6, 0, BigInt),
  ipv6_is_match: compared(readNetwork6, 0, (order) => order === 0),
  ipv6_is_in_range: isInRange6,
  parse_url: parsedUrl,
  parse_urlquery: ofText((text) => queryObject(text.replace(/^\?+/, ''))),
};
