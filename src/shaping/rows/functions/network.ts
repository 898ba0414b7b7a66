/** Addresses of networks, and URLs, of one row. */
import { IPV4_PATTERN, PRIVATE_NETWORKS, readNetwork, URL_PATTERN, type NETWORK } from '../../../language/functions/network.ts';
import type { Build, Builders, Call, Evaluate, Of } from '../call.ts';
import type { Value } from '../values/value.ts';

const IPV4 = new RegExp(IPV4_PATTERN);
const URL_PARTS = new RegExp(URL_PATTERN, 's');

/** The address as a number; null where it is none. */
const addressOf =
  (text: Of<string | null>): Of<number | null> =>
  (scope) => {
    const found = text(scope);
    return found !== null && IPV4.test(found) ? readNetwork(found)!.first : null;
  };

function within(call: Call, networks: readonly { readonly first: number; readonly last: number }[]): Evaluate {
  const address = addressOf(call.string(0));
  return (scope) => {
    const found = address(scope);
    return found === null ? null : networks.some(({ first, last }) => found >= first && found <= last);
  };
}

function isInRange(call: Call): Evaluate {
  const network = readNetwork(String(call.constant(1).value));
  if (!network) throw call.fail(1, 'wanted a network such as 10.0.0.0/8');
  return within(call, [network]);
}

function compared(call: Call): Evaluate {
  const bits = call.count > 2 ? Number(call.constant(2).value) : 32;
  if (bits < 0 || bits > 32) throw call.fail(2, 'wanted a number of bits from 0 to 32');
  const size = 2 ** (32 - bits);
  const [left, right] = [addressOf(call.string(0)), addressOf(call.string(1))];
  return (scope) => {
    const [a, b] = [left(scope), right(scope)];
    if (a === null || b === null) return null;
    return BigInt(Math.sign(Math.floor(a / size) - Math.floor(b / size)));
  };
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

const ofText =
  (build: (text: string) => Value): Build =>
  (call) => {
    const text = call.string(0);
    return (scope) => {
      const found = text(scope);
      return found === null ? null : build(found);
    };
  };

const parsedUrl = ofText((text) => {
  const found = URL_PARTS.exec(text);
  if (!found) return null;
  const [, scheme = '', username = '', password = '', host = '', port = '', path = '', query = '', fragment = ''] = found;
  return { scheme, host, port, path, username, password, query: queryObject(query), fragment };
});

export const NETWORK_ROWS: Builders<typeof NETWORK> = {
  parse_ipv4: (call) => {
    const address = addressOf(call.string(0));
    return (scope) => {
      const found = address(scope);
      return found === null ? null : BigInt(found);
    };
  },
  ipv4_is_private: (call) => within(call, PRIVATE_NETWORKS),
  ipv4_is_in_range: isInRange,
  ipv4_compare: compared,
  parse_url: parsedUrl,
  parse_urlquery: ofText((text) => queryObject(text.replace(/^\?+/, ''))),
};
