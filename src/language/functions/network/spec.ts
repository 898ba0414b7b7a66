/** Addresses of networks, and URLs. */
import { plainOf, type FunctionTable } from '../../function-spec.ts';
import { numberOf, type FunctionUse } from '../../plan/literals.ts';

export const NETWORK = {
  parse_ipv4: { syntax: 'parse_ipv4(text)', doc: 'Converts an IPv4 address, or the first one of a network such as 10.1.2.3/8, to a number; null if the text is neither.', args: ['string'], returns: 'int' },
  ipv4_is_private: { syntax: 'ipv4_is_private(text)', doc: 'True if the IPv4 address is private: in 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16. Null if the text is no address.', args: ['string'], returns: 'bool' },
  ipv4_is_in_range: { syntax: "ipv4_is_in_range(text, '10.0.0.0/8')", doc: 'True if the IPv4 address is in the network. Null if the text is no address.', args: ['string', 'constant string'], returns: 'bool' },
  ipv4_is_in_any_range: { syntax: "ipv4_is_in_any_range(text, '10.0.0.0/8', …)", doc: 'True if the IPv4 address is in one of the networks, which may stand in a `dynamic([…])`. Null if the text is no address.', args: ['string', 'constant'], rest: 'constant', returns: 'bool' },
  ipv4_netmask_suffix: { syntax: 'ipv4_netmask_suffix(text)', doc: 'Returns the length of the prefix of a network such as 10.0.0.0/8. Null if the text is none.', args: ['string'], returns: 'int' },
  parse_ipv4_mask: { syntax: 'parse_ipv4_mask(text, 24)', doc: 'Converts the first address of the network that has so many leading bits of the address to a number. Null if the text is no address.', args: ['string', 'constant int'], returns: 'int' },
  format_ipv4: { syntax: 'format_ipv4(number, 24)', doc: 'Writes a number, or an address as a text, as an IPv4 address; with a number of bits the first one of that network. An empty text if it is neither.', args: ['any', 'constant int'], optional: 1, returns: 'string' },
  format_ipv4_mask: { syntax: 'format_ipv4_mask(24)', doc: 'Writes the mask of so many leading bits, such as 255.255.255.0. Null if it is no number from 0 to 32.', args: ['int'], returns: 'string' },
  has_ipv4: { syntax: "has_ipv4(text, '10.1.2.3')", doc: 'True if an IPv4 address that equals the other, or is in that network, stands anywhere in the text. Digits, letters and dots beside an address belong to it.', args: ['string', 'constant string'], returns: 'bool' },
  has_any_ipv4: { syntax: "has_any_ipv4(text, '10.1.2.3', …)", doc: 'True if an IPv4 address that equals one of these, or is in one of these networks, stands anywhere in the text. They may stand in a `dynamic([…])`.', args: ['string', 'constant'], rest: 'constant', returns: 'bool' },
  has_ipv4_prefix: { syntax: "has_ipv4_prefix(text, '10.1.')", doc: 'True if an IPv4 address that begins with these numbers stands anywhere in the text.', args: ['string', 'constant string'], returns: 'bool' },
  has_any_ipv4_prefix: { syntax: "has_any_ipv4_prefix(text, '10.1.', …)", doc: 'True if an IPv4 address that begins with one of these stands anywhere in the text. They may stand in a `dynamic([…])`.', args: ['string', 'constant'], rest: 'constant', returns: 'bool' },
  ipv4_compare: { syntax: 'ipv4_compare(a, b, 24)', doc: 'Compares the leading bits of two IPv4 addresses: 0 if they are equal, -1 if the first is less, else 1. A prefix such as /24 behind either address counts, too. Null if either text is no address.', args: ['string', 'string', 'constant int'], optional: 1, returns: 'int' },
  ipv4_is_match: { syntax: 'ipv4_is_match(a, b, 24)', doc: 'True if the leading bits of two IPv4 addresses are equal. A prefix such as /24 behind either address counts, too. Null if either text is no address.', args: ['string', 'string', 'constant int'], optional: 1, returns: 'bool' },
  parse_ipv6: { syntax: 'parse_ipv6(text)', doc: 'Writes an IPv6 address, or the first one of a network, as eight groups of four digits, an IPv4 address as `::ffff:a.b.c.d`. Null if the text is no address.', args: ['string'], returns: 'string' },
  ipv6_compare: { syntax: 'ipv6_compare(a, b, 64)', doc: 'Compares the leading bits of two addresses: 0 if they are equal, -1 if the first is less, else 1. A prefix such as /24 behind either address counts, too. IPv4 counts as `::ffff:a.b.c.d`. Null if either text is no address.', args: ['string', 'string', 'constant int'], optional: 1, returns: 'int' },
  ipv6_is_match: { syntax: 'ipv6_is_match(a, b, 64)', doc: 'True if the leading bits of two addresses are equal. A prefix such as /24 behind either address counts, too. Null if either text is no address.', args: ['string', 'string', 'constant int'], optional: 1, returns: 'bool' },
  ipv6_is_in_range: { syntax: "ipv6_is_in_range(text, 'fd00::/8')", doc: 'True if the address is in the network. Null if the text is no address.', args: ['string', 'constant string'], returns: 'bool' },
  ipv6_is_in_any_range: { syntax: "ipv6_is_in_any_range(text, 'fd00::/8', …)", doc: 'True if the address is in one of the networks, which may stand in a `dynamic([…])`. Null if the text is no address.', args: ['string', 'constant'], rest: 'constant', returns: 'bool' },
  parse_url: { syntax: 'parse_url(text)', doc: 'Splits an absolute URL into `{scheme, host, port, path, username, password, query, fragment}`, with `query` as an object. Null if the text has no scheme or no host.', args: ['string'], returns: 'dynamic' },
  format_url: { syntax: 'format_url(object)', doc: 'Writes an object of `scheme`, `host`, `port`, `path`, `user` (or `username`), `password`, `query` and `fragment` as a URL, its characters as they are. Null without a scheme and a host.', args: ['any'], returns: 'string' },
  parse_urlquery: { syntax: 'parse_urlquery(text)', doc: 'Parses the query part of a URL into an object; of a name that comes twice the first value counts.', args: ['string'], returns: 'dynamic' },
} satisfies FunctionTable; // prettier-ignore

const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
/** An IPv4 address without zeros in front. */
const IPV4_PATTERN = `^(?:${OCTET}\\.){3}${OCTET}$`;
const GROUP = '[0-9A-Fa-f]{1,4}';
/** An IPv6 address, `::` for zeros and an IPv4 one at its end included. */
const IPV6_PATTERN = `^(?:(?:${GROUP}:){7}${GROUP}|(?:${GROUP}:){1,7}:${Array.from({ length: 6 }, (_, n) => `|(?:${GROUP}:){1,${6 - n}}(?::${GROUP}){1,${n + 1}}`).join('')}|:(?:(?::${GROUP}){1,7}|:)|::(?:[fF]{4}:)?(?:${OCTET}\\.){3}${OCTET})$`;
/** The same with or without a prefix length; for both back ends. */
export const PREFIXED_IPV4_PATTERN = `${IPV4_PATTERN.slice(0, -1)}(?:/(?:3[0-2]|[12]?[0-9]))?$`;
export const PREFIXED_IPV6_PATTERN = `${IPV6_PATTERN.slice(0, -1)}(?:/(?:12[0-8]|1[01][0-9]|[1-9]?[0-9]))?$`;
const [IPV4, IPV6] = [new RegExp(IPV4_PATTERN), new RegExp(IPV6_PATTERN)];
const [PREFIXED_IPV4, PREFIXED_IPV6] = [new RegExp(PREFIXED_IPV4_PATTERN), new RegExp(PREFIXED_IPV6_PATTERN)];

/** The 32 hexadecimal digits of an address, an IPv4 one as `::ffff:a.b.c.d`; undefined if invalid. */
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
  return (
    digits.slice(0, whole) + (bits % 4 === 0 ? '' : String(Number.parseInt(digits[whole]!, 16) >> (4 - (bits % 4))))
  );
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
  return {
    digits: addressDigits(address)!,
    bits: bits === undefined ? 128 : Number(bits) + (isIpv4 ? IPV4_IN_IPV6 : 0),
  };
}

/** The same of IPv4. */
export const readAddress4 = (text: string): Network6 | undefined =>
  PREFIXED_IPV4.test(text) ? readNetwork6(text) : undefined;

/** Scheme, user, password, host, port, path, query, fragment; a dot matches line ends, too. */
export const URL_PATTERN =
  '^([A-Za-z][A-Za-z0-9+.-]*)://(?:([^/?#@:]*)(?::([^/?#@]*))?@)?(\\[[^\\]]*\\]|[^/?#@:]+)(?::([0-9]*))?(/[^?#]*)?(?:\\?([^#]*))?(?:#(.*))?$';

/** The first and the last address. */
export type Network4 = Readonly<Record<'first' | 'last', number>>;

/** A network such as `10.0.0.0/8`, or one address; undefined for anything else. */
export function readNetwork(text: string): Network4 | undefined {
  const [, a, b, c, d, bits = '32'] = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:\/(\d{1,2}))?$/.exec(text) ?? [];
  const parts = [a, b, c, d].map(Number);
  if (a === undefined || parts.some((part) => part > 255) || Number(bits) > 32) return undefined;
  const size = 2 ** (32 - Number(bits));
  const address = parts.reduce((sum, part) => sum * 256 + part, 0);
  const first = address - (address % size);
  return { first, last: first + size - 1 };
}

/** A network of the addresses that begin with these numbers: `10.1.`, `10.1` or a whole address; undefined for anything else. */
export function readPrefix(text: string): Network4 | undefined {
  const parts = text.replace(/\.$/, '').split('.');
  return parts.length > 4
    ? undefined
    : readNetwork(`${[...parts, '0', '0', '0'].slice(0, 4).join('.')}/${parts.length * 8}`);
}

/** The characters between addresses in a text: all that no address has. */
export const ADDRESS_GAPS = '[^0-9A-Za-z.]+';

/** The texts of the arguments from the second on, and those of a `dynamic([…])`, each as `read` makes it. */
export function networksOf<T>(use: FunctionUse, read: (text: string) => T | undefined, example: string): T[] {
  return Array.from({ length: use.count - 1 }, (_, n) =>
    [plainOf(use.constant(n + 1))].flat().map((text) => {
      const found = typeof text === 'string' ? read(text) : undefined;
      if (found === undefined) throw use.fail(n + 1, `wanted ${example}`);
      return found;
    }),
  ).flat();
}

/** How many leading bits of two addresses count. */
export const bitsOf = (use: FunctionUse, most: number): number => numberOf(use, 2, 'a number of bits', 0, most, most);

/** `10.1.2.3` of its number. */
export const addressText = (number: number): string => [24, 16, 8, 0].map((bits) => (number >>> bits) & 255).join('.');
/** The mask of so many leading bits. */
export const maskOf = (bits: number): number => 2 ** 32 - 2 ** (32 - bits);

export const PRIVATE_NETWORKS = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'].map((text) => readNetwork(text)!);
