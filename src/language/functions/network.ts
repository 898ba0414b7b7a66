/** Addresses of networks, and URLs. */
import type { FunctionTable } from './spec.ts';

export const NETWORK = {
  parse_ipv4: { syntax: 'parse_ipv4(text)', doc: 'The IPv4 address as a number; null where the text is none.', args: ['string'], returns: 'int' },
  ipv4_is_private: { syntax: 'ipv4_is_private(text)', doc: 'The IPv4 address is of a private network: 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16. Null where the text is no address.', args: ['string'], returns: 'bool' },
  ipv4_is_in_range: { syntax: "ipv4_is_in_range(text, '10.0.0.0/8')", doc: 'The IPv4 address is in the network. Null where the text is no address.', args: ['string', 'constant string'], returns: 'bool' },
  ipv4_compare: { syntax: 'ipv4_compare(a, b, 24)', doc: '0 where both addresses are equal, -1 where the first is less, else 1; only that many leading bits count. Null where one is no address.', args: ['string', 'string', 'constant int'], optional: 1, returns: 'int' },
  parse_url: { syntax: 'parse_url(text)', doc: 'The parts of an absolute URL: `{scheme, host, port, path, username, password, query, fragment}`; `query` is an object. Null where the text is no URL with a scheme and a host.', args: ['string'], returns: 'dynamic' },
  parse_urlquery: { syntax: 'parse_urlquery(text)', doc: 'The parameters of the query part of a URL, as an object; of a name that comes twice the first value.', args: ['string'], returns: 'dynamic' },
} satisfies FunctionTable; // prettier-ignore

const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
/** An IPv4 address without zeros in front, for both back ends. */
export const IPV4_PATTERN = `^(?:${OCTET}\\.){3}${OCTET}$`;
/** Scheme, user, password, host, port, path, query, fragment; a dot stands for line ends, too. */
export const URL_PATTERN =
  '^([A-Za-z][A-Za-z0-9+.-]*)://(?:([^/?#@:]*)(?::([^/?#@]*))?@)?(\\[[^\\]]*\\]|[^/?#@:]+)(?::([0-9]*))?(/[^?#]*)?(?:\\?([^#]*))?(?:#(.*))?$';

/** A network such as `10.0.0.0/8`, or one address; undefined for anything else. */
export function readNetwork(text: string): { readonly first: number; readonly last: number } | undefined {
  const [, a, b, c, d, bits = '32'] = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:\/(\d{1,2}))?$/.exec(text) ?? [];
  const parts = [a, b, c, d].map(Number);
  if (a === undefined || parts.some((part) => part > 255) || Number(bits) > 32) return undefined;
  const size = 2 ** (32 - Number(bits));
  const address = parts.reduce((sum, part) => sum * 256 + part, 0);
  const first = address - (address % size);
  return { first, last: first + size - 1 };
}

export const PRIVATE_NETWORKS = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'].map((text) => readNetwork(text)!);
