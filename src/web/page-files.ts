/**
 * The built pages, which are beside the bundle, or inside the single executable. Read at each request: a page that nobody opens takes no
 * memory.
 */
import { readFileSync } from 'node:fs';
import { getRawAsset, isSea } from 'node:sea';

export type PageName = 'status-page' | 'explorer-page';

export interface PageFile {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const CONTENT_TYPES = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
} as const;
export type PageFileKind = keyof typeof CONTENT_TYPES;

/** Nothing inline, nothing from elsewhere, no frame around it, no form that leaves it. */
export const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Headers of a page and of the data that it shows. */
export const PAGE_HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const;

/** From a checkout the sources serve what `npm run build` wrote. */
const folder = new URL(import.meta.url.endsWith('.ts') ? '../../dist/' : './', import.meta.url);

/** Throws `ENOENT` in a checkout that was never built. */
export function readPageFile(page: PageName, kind: PageFileKind): PageFile {
  const name = `${page}.${kind}`;
  const body = isSea() ? Buffer.from(getRawAsset(name)) : readFileSync(new URL(name, folder));
  return { headers: { ...PAGE_HEADERS, 'content-type': CONTENT_TYPES[kind] }, body };
}
