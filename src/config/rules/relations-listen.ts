/** What listeners need of each other and of the rest: ports and paths that are taken once, certificates where TLS is. */
import type { Draft } from '../fields/field.ts';
import type { ListenAddress } from '../model.ts';
import type { PathReport } from '../fields/path-report.ts';
import type { SourceDraft, agentTable } from '../tables/schema.ts';

interface Taken {
  readonly address: ListenAddress;
  readonly owner: string;
}

type SyslogSourceDraft = Extract<SourceDraft, { type: 'syslog' }>;

export function checkListeners(agent: Draft<typeof agentTable>, sources: readonly SourceDraft[], at: PathReport): void {
  const taken: Taken[] = [];
  const telemetry = agent.telemetry?.listen;
  if (telemetry) taken.push({ address: { protocol: 'tcp', ...telemetry }, owner: '`telemetry.listen`' });
  for (const source of sources) {
    if (source.type !== 'syslog') continue;
    for (const [index, address] of (source.draft.listen ?? []).entries()) {
      if (address === undefined) continue;
      const other = taken.find((candidate) => collides(candidate.address, address));
      if (other === undefined) taken.push({ address, owner: `the source \`${source.id}\`` });
      else {
        const what = 'port' in address ? `${address.protocol} port ${address.port}` : `the socket \`${locationOf(address)}\``;
        const fix = 'port' in address ? 'choose another port' : 'choose another one';
        at.atValue(`${source.path}.listen.${index}`, `${what} is already taken by ${other.owner}`, fix);
      }
    }
    checkTls(source, at);
  }
}

function checkTls({ path, draft }: SyslogSourceDraft, at: PathReport): void {
  const index = (draft.listen ?? []).findIndex((address) => address?.protocol === 'tls' || address?.protocol === 'systemd-tls');
  if (index >= 0) {
    for (const part of ['cert', 'key'] as const) {
      if (at.has(`${path}.tls.${part}`)) continue;
      at.atValue(`${path}.listen.${index}`, `a TLS listener has no \`tls.${part}\``, `add \`tls: {cert: tls.crt, key: tls.key}\``);
      break;
    }
  }
  if (draft.tls?.require_client_cert === true && !at.has(`${path}.tls.ca`))
    at.atKey(
      `${path}.tls.require_client_cert`,
      '`require_client_cert` is given without `ca`',
      'add the `ca` that signs client certificates',
    );
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
