/** Addresses that are listened on: each is taken once. */
import { sourceTypeOf } from '../../sources/registry.ts';
import type { FieldDrafts } from '../fields/field.ts';
import type { ListenAddress } from '../fields/kinds-listen.ts';
import type { PathReport } from '../fields/path-report.ts';
import type { AnySourceDraft, agentTable } from '../tables/schema.ts';

interface Taken {
  readonly address: ListenAddress;
  readonly owner: string;
}

export function checkListeners(
  agent: FieldDrafts<typeof agentTable>,
  sources: readonly AnySourceDraft[],
  at: PathReport,
): void {
  const taken: Taken[] = [];
  const telemetry = agent.telemetry?.listen;
  if (telemetry) taken.push({ address: { protocol: 'tcp', ...telemetry }, owner: '`telemetry.listen`' });
  for (const source of sources) {
    for (const [index, address] of (sourceTypeOf(source).listens?.(source.draft) ?? []).entries()) {
      if (address === undefined) continue;
      const other = taken.find((candidate) => collides(candidate.address, address));
      if (other === undefined) taken.push({ address, owner: `the source \`${source.id}\`` });
      else {
        const what =
          'port' in address ? `${address.protocol} port ${address.port}` : `the socket \`${locationOf(address)}\``;
        const fix = 'port' in address ? 'choose another port' : 'choose another one';
        at.atValue(`${source.path}.listen.${index}`, `${what} is already taken by ${other.owner}`, fix);
      }
    }
  }
}

function locationOf(address: ListenAddress): string {
  return 'path' in address ? address.path : `${address.protocol}://${'name' in address ? address.name : ''}`;
}

function collides(a: ListenAddress, b: ListenAddress): boolean {
  if ('port' in a && 'port' in b) {
    if ((a.protocol === 'udp') !== (b.protocol === 'udp') || a.port !== b.port || a.port === 0) return false;
    return a.host === b.host || isAnyHost(a.host) || isAnyHost(b.host);
  }
  if ('path' in a && 'path' in b) return a.path === b.path;
  return 'name' in a && 'name' in b && (a.name === b.name || a.name === '' || b.name === '');
}

function isAnyHost(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}
