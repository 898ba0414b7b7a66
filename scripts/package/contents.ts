/** The contents of the executable: Node and the bundled packages, for the SBOM (CycloneDX) and the licence texts. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Component {
  readonly name: string;
  readonly version: string;
  /** SPDX. */
  readonly license: string;
  /** The licence's text where the package brings one. */
  readonly text: string | undefined;
}

/** The packages that these files are of, by name. */
export function bundledComponents(root: string, sources: readonly string[]): Component[] {
  const folders = new Set(
    sources.flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
  );
  return [...folders].map((folder) => readComponent(join(root, folder))).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Node itself; `folder` holds its npm package. */
export function nodeComponent(folder: string): Component {
  return { ...readComponent(folder), name: 'node', license: 'MIT' };
}

function readComponent(folder: string): Component {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license?: string;
  };
  const file = existsSync(folder) ? readdirSync(folder).find((each) => /^(licen[cs]e|copying)/i.test(each)) : undefined;
  const text = file === undefined ? undefined : readFileSync(join(folder, file), 'utf8').trim();
  return { name, version, license: license ?? 'UNKNOWN', text };
}

/** The third-party licences as one text. */
export function licenceText(components: readonly Component[]): string {
  return components
    .map(
      ({ name, version, license, text }) =>
        `${'-'.repeat(72)}\n${name} ${version} (${license})\n\n${text ?? 'No licence text comes with the package.'}\n`,
    )
    .join('\n');
}

/** A CycloneDX 1.6 bill of materials. The serial number follows from the contents, so that two builds are equal. */
export function billOfMaterials(components: readonly Component[], version: string, date: Date): string {
  const list = components.map(({ name, version: each, license }) => ({
    type: name === 'node' ? 'platform' : 'library',
    'bom-ref': `${name}@${each}`,
    name,
    version: each,
    ...(name === 'node' ? {} : { purl: `pkg:npm/${name.replace('@', '%40')}@${each}` }),
    licenses: [/ (OR|AND) /.test(license) ? { expression: license } : { license: { id: license } }],
  }));
  const hash = createHash('sha256').update(JSON.stringify(list)).digest('hex');
  const uuid = [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `5${hash.slice(13, 16)}`,
    `8${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-');
  const bom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuid}`,
    version: 1,
    metadata: {
      timestamp: date.toISOString(),
      component: {
        type: 'application',
        'bom-ref': `tailrace@${version}`,
        name: 'tailrace',
        version,
        licenses: [{ license: { id: 'Apache-2.0' } }],
      },
    },
    components: list,
    dependencies: [{ ref: `tailrace@${version}`, dependsOn: list.map((each) => each['bom-ref']) }],
  };
  return `${JSON.stringify(bom, undefined, 2)}\n`;
}
