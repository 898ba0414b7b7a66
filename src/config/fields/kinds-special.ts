/** Values with a grammar of their own: addresses, names, static fields, secrets. */
import { isIP, isIPv6 } from 'node:net';
import type { JsonValue } from '../../core/block.ts';
import { MAX_FIELDS } from '../../core/limits.ts';
import { parseBaseUrl } from '../connect/base-url.ts';
import type { YamlNode } from '../yaml/document.ts';
import { asMap, type FieldKey, type FieldKind, type FieldReading } from './field.ts';
import { anyText, matching, readScalar, text } from './kinds.ts';
import { nearest } from '../nearest.ts';
import { parseProxy } from '../connect/proxy.ts';
import { quote } from '../quote.ts';

/** Characters of a static field's name. */
const MAX_FIELD_NAME = 200;
const HOST_NAME =
  /^(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?$/;

/** As services take it; safe as the name of a folder. */
export const DATASET_NAME = /^[A-Za-z0-9-]{1,128}$/;

export const datasetName: FieldKind<string> = matching(
  DATASET_NAME,
  'is not a dataset name',
  'use 1 to 128 letters (A-Z, a-z), digits and `-`',
  { type: 'text, 1 to 128 of `A-Z a-z 0-9 -`' },
);

/** An HTTP header's value or part of a name: visible ASCII. */
export const headerValue: FieldKind<string> = matching(
  /^[\x21-\x7e]{1,256}$/,
  'cannot stand in a header',
  'use up to 256 visible ASCII characters, no spaces',
);

export const headerPrefix: FieldKind<string> = matching(
  /^[A-Za-z][A-Za-z0-9-]{0,62}-$/,
  'is not a header prefix',
  'use letters, digits and `-`, ending in `-`, such as `X-Service-`',
  { type: 'text that ends in `-`' },
);

/** A token in the file or from a variable. */
export const token: FieldKind<string> = matching(
  /^[\x21-\x7e]+$/,
  'holds a space or a character outside ASCII',
  'copy it again, as one word',
  {
    secret: 'use `token_file`',
  },
);

/** http or https, with an optional path; without its trailing slashes. */
export const baseUrl: FieldKind<string> = text({
  type: 'http or https address',
  schema: { pattern: '^(https?://|.*\\$\\{)' },
  parse: parseBaseUrl,
});

/** Never shown, because it may hold a password. */
export const proxyAddress: FieldKind<string> = text({
  type: 'http or https address',
  secret: 'leave it to HTTPS_PROXY',
  parse: parseProxy,
});

/** A CSV column: services trim names, so that spaces at their ends would be lost. */
export const columnName: FieldKind<string> = text({
  parse: (value) =>
    value.trim() === value && value.length <= MAX_FIELD_NAME
      ? { value }
      : { message: 'cannot be a column', fix: `use up to ${MAX_FIELD_NAME} characters, no spaces at either end` },
});

/** One path that may have wildcards, or several. */
export const globOrList: FieldKind<readonly string[]> = {
  type: 'path with wildcards, or a list of them',
  schema: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
  read: (node, key, reading) =>
    (node.kind === 'list' ? node.items : [node]).flatMap((each) => anyText.read(each, key, reading) ?? []),
};

/** `host:port`, or `none`. The value of `none` is null, to tell it from an unread one. */
export const hostPortOrNone: FieldKind<{ host: string; port: number } | null> = text<{
  host: string;
  port: number;
} | null>({
  type: '`host:port`, or `none`',
  parse: (value) => {
    if (value === 'none') return { value: null };
    const address = parseHostPort(value);
    if (!('message' in address)) return { value: address };
    return { message: address.message, fix: 'write it as `127.0.0.1:9600`, or `none` to switch it off' };
  },
});

/** An IANA zone name that this machine's runtime knows. */
export const timezone: FieldKind<string> = text({
  type: 'IANA time zone',
  parse: (value) => {
    try {
      return { value: new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone };
    } catch {
      const near = nearest(value, Intl.supportedValuesOf('timeZone'));
      return {
        message: 'is not a known time zone',
        fix: near === undefined ? 'write a name such as `Europe/Athens` or `UTC`' : `did you mean \`${near}\`?`,
      };
    }
  },
});

/** Names to any JSON values; variables are replaced in text values and stay text. */
export const staticFields: FieldKind<Readonly<Record<string, JsonValue>>> = {
  type: `mapping of at most ${MAX_FIELDS} names to any values`,
  schema: { type: ['object', 'null'], maxProperties: MAX_FIELDS },
  read: (node, key, reading) => {
    if (node.kind === 'scalar' && node.value === null) return {};
    if (node.kind !== 'map') {
      reading.report(
        node.at,
        `\`${key.name}\` must be a mapping of names to values`,
        `write it as \`${key.name}: {env: prod}\``,
      );
      return undefined;
    }
    return readObject(node, key, reading);
  },
};

function readObject(
  node: Extract<YamlNode, { kind: 'map' }>,
  key: FieldKey,
  reading: FieldReading,
): Record<string, JsonValue> {
  const pairs = node.entries.map(({ key: name, keyAt, value }): [string, JsonValue] => {
    if (name === '' || name.length > MAX_FIELD_NAME) {
      reading.report(keyAt, `a field's name has ${name.length} characters`, `use 1 to ${MAX_FIELD_NAME}`);
    }
    return [name, readJson(value, { path: `${key.path}.${name}`, name }, reading)];
  });
  // Makes own properties of all names, `__proto__` included.
  return Object.fromEntries(pairs);
}

/** Any JSON value; a wrong one is reported and becomes null. */
function readJson(node: YamlNode, key: FieldKey, reading: FieldReading): JsonValue {
  if (node.kind === 'list') return node.items.map((item) => readJson(item, key, reading));
  if (node.kind === 'map') return readObject(node, key, reading);
  if (node.value === null || typeof node.value === 'boolean') return node.value;
  if (typeof node.value === 'number') {
    if (Number.isFinite(node.value) && (!Number.isInteger(node.value) || Number.isSafeInteger(node.value)))
      return node.value;
    reading.report(
      node.at,
      `\`${quote(node.source)}\` cannot be kept exactly as a number`,
      `put it in quotes: \`"${quote(node.source)}"\``,
    );
    return null;
  }
  return readScalar(node, key, reading, 'a value')?.value ?? null;
}

/** As it is written: no variable is replaced. */
export const jsonObject: FieldKind<Readonly<Record<string, JsonValue>>> = {
  type: 'mapping of names to any values',
  schema: { type: 'object' },
  read: (node, key, reading) => {
    const map = asMap(node, key.name, reading.report);
    return map && Object.fromEntries(map.entries.map(({ key: name, value }) => [name, jsonOf(value, reading)]));
  },
};

function jsonOf(node: YamlNode, reading: FieldReading): JsonValue {
  if (node.kind === 'list') return node.items.map((item) => jsonOf(item, reading));
  if (node.kind === 'map')
    return Object.fromEntries(node.entries.map(({ key, value }) => [key, jsonOf(value, reading)]));
  if (typeof node.value !== 'number' || Number.isFinite(node.value)) return node.value;
  reading.report(node.at, `\`${quote(node.source)}\` is no JSON number`, 'put it in quotes where text is meant');
  return null;
}

export function parseHostPort(value: string): { host: string; port: number } | { message: string } {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]*)\]|([^:[\]]*)):(\d{1,5})$/.exec(value) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || digits === undefined) {
    return {
      message: isIPv6(value.replace(/:\d*$/, '')) ? 'has an IPv6 address without brackets' : 'has no `host:port`',
    };
  }
  const port = Number(digits);
  if (port > 65_535) return { message: `has the port ${port}, above 65535` };
  if (bracketed !== undefined && !isIPv6(bracketed)) return { message: 'has no IPv6 address in its brackets' };
  if (bracketed === undefined && isIP(host) === 0 && !isHostName(host)) return { message: `has no valid host` };
  return { host, port };
}

/** Digits and dots alone are a mistyped IPv4 address, not a name. */
function isHostName(host: string): boolean {
  return HOST_NAME.test(host) && !/^[\d.]+$/.test(host);
}
