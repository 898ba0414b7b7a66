/** Addresses of networks, and URLs. */
import type { FunctionTable } from '../../function-spec.ts';

export const NETWORK = {
  parse_ipv4: { syntax: 'parse_ipv4(text)', doc: 'Converts an IPv4 address, or the first one of a network such as 10.1.2.3/8, to a number; null if the text is neither.', args: ['string'], returns: 'int' },
  ipv4_is_private: { syntax: 'ipv4_is_private(text)', doc: 'True if the IPv4 address is private: in 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16. Null if the text is no address.', args: ['string'], returns: 'bool' },
  ipv4_is_in_range: { syntax: "ipv4_is_in_range(text, '10.0.0.0/8')", doc: 'True if the IPv4 address is in the network. Null if the text is no address.', args: ['string', 'constant string'], returns: 'bool' },
  ipv4_compare: { syntax: 'ipv4_compare(a, b, 24)', doc: 'Compares the leading bits of two IPv4 addresses: 0 if they are equal, -1 if the first is less, else 1. A prefix such as /24 behind either address counts, too. Null if either text is no address.', args: ['string', 'string', 'constant int'], optional: 1, returns: 'int' },
  ipv4_is_match: { syntax: 'ipv4_is_match(a, b, 24)', doc: 'True if the leading bits of two IPv4 addresses are equal. A prefix such as /24 behind either address counts, too. Null if either text is no address.', args: ['string', 'string', 'constant int'], optional: 1, returns: 'bool' },
  parse_ipv6: { syntax: 'parse_ipv6(text)', doc: 'Writes an IPv6 address, or the first one of a network, as eight groups of four digits, an IPv4 address as `::ffff:a.b.c.d`. Null if the text is no address.', args: ['string'], returns: 'string' },
  ipv6_compare: { syntax: 'ipv6_compare(a, b, 64)', doc: 'Compares the leading bits of two addresses: 0 if they are equal, -1 if the first is less, else 1. A prefix such as /24 behind either address counts, too. IPv4 counts as `::ffff:a.b.c.d`. Null if either text is no address.', args: ['string', 'string', 'constant int'], optional: 1, returns: 'int' },
  ipv6_is_match: { syntax: 'ipv6_is_match(a, b, 64)', doc: 'True if the leading bits of two addresses are equal. A prefix such as /24 behind either address counts, too. Null if either text is no address.', args: ['string', 'string', 'constant int'], optional: 1, returns: 'bool' },
  ipv6_is_in_range: { syntax: "ipv6_is_in_range(text, 'fd00::/8')", doc: 'True if the address is in the network. Null if the text is no address.', args: ['string', 'constant string'], returns: 'bool' },
  parse_url: { syntax: 'parse_url(text)', doc: 'Splits an absolute URL into `{scheme, host, port, path, username, password, query, fragment}`, with `query` as an object. Null if the text has no scheme or no host.', args: ['string'], returns: 'dynamic' },
  parse_urlquery: { syntax: 'parse_urlquery(text)', doc: 'Parses the query part of a URL into an object; of a name that comes twice the first value counts.', args: ['string'], returns: 'dynamic' },
} satisfies FunctionTable; // prettier-ignore

const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
/** An IPv4 address without zeros in front. */
const IPV4_PATTERN = `^(?:${OCTET}\\.){3}${OCTET}$`;
const GROUP = '[0-9A-Fa-f]{1,4}';
/** An IPv6 address, `::` for zeros and an IPv4 one at its end included. */
const IPV6_PATTERN = `^(?:(?:${GROUP}:){7}${GROUP}|(?:${GROUP}:){1,7}:${Array.from({ length: 6 }, (_, n) => `|(?:${GROUP}:){1,${6 - n}}(?::${GROUP}){1,${n + 1}}`).join('')}|:(?:(?::${GROUP}){1,7}|:)|::(?:[fF]{4}:)?(?:${OCTET}\\.){3}${OCTET})$`;
/** The same with the length of a prefix behind it, or without; for both back ends. */
export const PREFIXED_IPV4_PATTERN = `${IPV4_PATTERN.slice(0, -1)}(?:/(?:3[0-2]|[12]?[0-9]))?$`;
export const PREFIXED_IPV6_PATTERN = `${IPV6_PATTERN.slice(0, -1)}(?:/(?:12[0-8]|1[01][0-9]|[1-9]?[0-9]))?$`;
const [IPV4, IPV6] = [new RegExp(IPV4_PATTERN), new RegExp(IPV6_PATTERN)];
const [PREFIXED_IPV4, PREFIXED_IPV6] = [new RegExp(PREFIXED_IPV4_PATTERN), new RegExp(PREFIXED_IPV6_PATTERN)];

/** The 32 hexadecimal digits of an address, an IPv4 one as `::ffff:a.b.c.d`; undefined where the text is none. */
function addressDigits(text: string): string | undefined {
  if (IPV4.test(text)) return addressDigits(`::ffff:${text}`);
  if (!IPV6.test(text)) return undefined;
  const whole = text.toLowerCase().replace(/(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/, (_, ...parts: string[]) => {
    const [a, b, c, d] = parts.slice(0, 4).map((part) => Number(part).toString(16).padStart(2, '0'));
    return `${a}${b}:${c}${d}`;
  });
  const [head = '', tail] = whole.split('::').map((side) => side.split(':').filter(Boolean).map((group) => group.padStart(4, '0')).join(''));
  return tail === undefined ? head : head.padEnd(32 - tail.length, '0') + tail;
} // prettier-ignore

/** The first bits of an address as a text that sorts as they do. */
export function leadingBits(digits: string, bits: number): string {
  const whole = Math.floor(bits / 4);
  return digits.slice(0, whole) + (bits % 4 === 0 ? '' : String(Number.parseInt(digits[whole]!, 16) >> (4 - (bits % 4))));
}

/** Bits of an IPv6 address before the IPv4 one in it. */
export const IPV4_IN_IPV6 = 96;

export interface Network6 {
  readonly digits: string;
  readonly bits: number;
}

/** A network such as `fd00::/8`, or one address; undefined for anything else. */
export function readNetwork6(text: string): Network6 | undefined {
  const isIpv4 = PREFIXED_IPV4.test(text);
  if (!isIpv4 && !PREFIXED_IPV6.test(text)) return undefined;
  const [address = '', bits] = text.split('/');
  return { digits: addressDigits(address)!, bits: bits === undefined ? 128 : Number(bits) + (isIpv4 ? IPV4_IN_IPV6 : 0) };
}

/** The same of IPv4. */
export const readAddress4 = (text: string): Network6 | undefined => (PREFIXED_IPV4.test(text) ? readNetwork6(text) : undefined);

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
