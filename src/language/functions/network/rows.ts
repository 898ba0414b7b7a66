/** Addresses of networks, and URLs, of one row. */
import { numberOf, readText } from '../../plan/literals.ts';
import {
  addressDigits,
  IPV4_PATTERN,
  leadingBits,
  PRIVATE_NETWORKS,
  readNetwork,
  readNetwork6,
  URL_PATTERN,
  type NETWORK,
} from './spec.ts';
import type { Build, Builders, Call, Evaluate, Of } from '../../../shaping/rows/call/call.ts';
import { lift1, lift2, ofText } from '../../../shaping/rows/call/lift.ts';
import type { Value } from '../../../shaping/rows/values/value.ts';

const IPV4 = new RegExp(IPV4_PATTERN);
const URL_PARTS = new RegExp(URL_PATTERN, 's');

/** The address as a number; null where it is none. */
const addressOf = (text: Of<string | null>): Of<number | null> =>
  lift1(text, (found) => (IPV4.test(found) ? readNetwork(found)!.first : null));

const within = (call: Call, networks: readonly { readonly first: number; readonly last: number }[]): Evaluate =>
  lift1(addressOf(call.string(0)), (address) => networks.some(({ first, last }) => address >= first && address <= last));

function isInRange(call: Call): Evaluate {
  const network = readText(call, 1, readNetwork, 'a network such as 10.0.0.0/8');
  return within(call, [network]);
}

/** How many leading bits count. */
const bitsOf = (call: Call, most: number): number => numberOf(call, 2, 'a number of bits', 0, most, most);

/** The leading bits of both addresses. */
type Heads = (call: Call) => readonly [Of<string | number | null>, Of<string | number | null>];

const heads4: Heads = (call) => {
  const size = 2 ** (32 - bitsOf(call, 32));
  const head = (n: number): Of<number | null> => lift1(addressOf(call.string(n)), (address) => Math.floor(address / size));
  return [head(0), head(1)];
};

const head6 = (text: Of<string | null>, bits: number): Of<string | null> =>
  lift1(text, (found) => {
    const digits = addressDigits(found);
    return digits === undefined ? null : leadingBits(digits, bits);
  });

const heads6: Heads = (call) => {
  const bits = bitsOf(call, 128);
  return [head6(call.string(0), bits), head6(call.string(1), bits)];
};

const compared =
  (heads: Heads, build: (order: -1 | 0 | 1) => Value): Build =>
  (call) =>
    lift2(...heads(call), (a, b) => build(a === b ? 0 : a < b ? -1 : 1));

function isInRange6(call: Call): Evaluate {
  const network = readText(call, 1, readNetwork6, 'a network such as fd00::/8');
  const wanted = leadingBits(network.digits, network.bits);
  return lift1(head6(call.string(0), network.bits), (head) => head === wanted);
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
  ipv4_compare: compared(heads4, BigInt),
  ipv4_is_match: compared(heads4, (order) => order === 0),
  parse_ipv6: ofText((text) => addressDigits(text)?.match(/.{4}/g)?.join(':') ?? null),
  ipv6_compare: compared(heads6, BigInt),
  ipv6_is_match: compared(heads6, (order) => order === 0),
  ipv6_is_in_range: isInRange6,
  parse_url: parsedUrl,
  parse_urlquery: ofText((text) => queryObject(text.replace(/^\?+/, ''))),
};
