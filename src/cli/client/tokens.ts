/**
 * `tailrace tokens create|list|revoke`: of a service that has endpoints for it, or, with `--data`, of the folder of a local service that is
 * stopped. Each resolves with the exit code.
 */
import { resolve } from 'node:path';
import type { Action, NewToken, Token } from '../../client/api-types.ts';
import { ClientError } from '../../client/client-error.ts';
import type { Client } from '../../client/client.ts';
import { parseDuration } from '../../config/fields/units.ts';
import type { OfflineTokens } from '../../service/run/offline-tokens.ts';
import { codeOf, messageOf, TailraceError } from '../../core/errors.ts';
import { refuseForeignFolder } from '../../state/keep-owner.ts';
import type { ArgumentsOf } from '../options/command-options.ts';
import { confirm } from './datasets.ts';
import { printList, write } from './output/print.ts';
import { say, usageError } from '../output/say.ts';
import { sentenceOf } from './sentence.ts';
import { withClient } from './with-client.ts';

const EVERY: readonly Action[] = ['create', 'read', 'update', 'delete'];

export function listTokens(args: ArgumentsOf<'tokens list'>): Promise<number> {
  return withTokens(args, async (tokens) => {
    const columns = {
      ...({ id: 'id', name: 'name' } as const),
      expires: ({ expiresAt }: Token) => expiresAt ?? 'never',
      rights: rightsOf,
    };
    await printList(await tokens.list(), columns, args.json);
  });
}

/** The token alone goes to stdout, so that a script can keep it. */
export function createToken(name: string, args: ArgumentsOf<'tokens create'>): Promise<number> {
  const wanted = newToken(name, args, Date.now());
  return withTokens(args, async (tokens) => {
    const created = await tokens.create(wanted);
    await write(`${args.json ? JSON.stringify(created) : created.token}\n`);
    if (!args.json)
      say(`The token ${name} (${created.id}) is made. It is shown this once: the service keeps only its hash.`);
  });
}

export function revokeToken(id: string, args: ArgumentsOf<'tokens revoke'>): Promise<number> {
  return withTokens(args, async (tokens) => {
    if (!(await confirm(`Revoke the token ${id}? What uses it is refused from then on.`, args.yes))) return 1;
    await tokens.revoke(id);
    if (args.json) await write(`${JSON.stringify({ revoked: id })}\n`);
    else say(`The token ${id} is revoked.`);
    return 0;
  });
}

/** The token that the options describe. Throws `UsageError`. */
function newToken(name: string, args: ArgumentsOf<'tokens create'>, nowMs: number): NewToken {
  const { description, personal, user, expires, manageDatasets, manageTokens } = args;
  const datasets: Record<string, Record<string, Action[]>> = {};
  const grant = (names: readonly string[] | undefined, area: string, action: Action): void => {
    for (const dataset of names ?? []) (datasets[dataset] ??= {})[area] = [action];
  };
  grant(args.ingest, 'ingest', 'create');
  grant(args.query, 'query', 'read');
  grant(args.trim, 'trim', 'update');
  const org = { ...(manageDatasets && { datasets: EVERY }), ...(manageTokens && { apiTokens: EVERY }) };
  const hasRights = Object.keys(datasets).length + Object.keys(org).length > 0;
  if (!personal && !hasRights)
    throw usageError(
      `the token "${name}" could do nothing`,
      'give --ingest, --query or --trim with datasets (or "*"), --manage-datasets, --manage-tokens, or --personal',
    );
  if (personal && hasRights)
    throw usageError('a personal token has the rights of its user', 'give --personal alone, or none of it');
  return {
    name,
    ...(description !== undefined && { description }),
    ...(expires !== undefined && { expiresAt: expiryOf(expires, nowMs) }),
    ...(personal
      ? { kind: 'personal' as const, ...(user !== undefined && { user }) }
      : { datasetCapabilities: datasets, orgCapabilities: org }),
  };
}

function expiryOf(text: string, nowMs: number): string {
  const duration = parseDuration(text);
  if (duration.ok) return new Date(nowMs + duration.value).toISOString();
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw usageError(`--expires: "${text}" is neither a duration nor a time`, 'write `90d` or `2030-01-31T00:00:00Z`');
}

/** `ingest: logs, web; query: *; datasets`. */
function rightsOf({ datasetCapabilities, orgCapabilities }: Token): string {
  const byArea = new Map<string, string[]>();
  for (const [dataset, areas] of Object.entries(datasetCapabilities ?? {}))
    for (const area of Object.keys(areas)) byArea.set(area, [...(byArea.get(area) ?? []), dataset]);
  return [
    ...[...byArea].map(([area, names]) => `${area}: ${names.join(', ')}`),
    ...Object.keys(orgCapabilities ?? {}),
  ].join('; ');
}

type TokenCalls = Pick<Client['tokens'], 'list' | 'create' | 'revoke'>;

function withTokens(
  args: ArgumentsOf<'tokens list'>,
  work: (tokens: TokenCalls) => Promise<number | void>,
): Promise<number> {
  if (args.data !== undefined) return withFolder(args.data, args, work);
  return withClient(args, undefined, async (client) => {
    try {
      return await work(client.tokens);
    } catch (error) {
      if (!(error instanceof ClientError) || error.status !== 404) throw error;
      const isUnknownToken = /token .{0,200}not found/i.test(error.message);
      throw new TailraceError(error.code, sentenceOf(error), {
        fix: isUnknownToken
          ? '`tailrace tokens list` shows the tokens and their ids'
          : 'this service has no endpoints for tokens: make and revoke them in its settings',
        cause: error,
      });
    }
  });
}

async function withFolder(
  data: string,
  args: ArgumentsOf<'tokens list'>,
  work: (tokens: TokenCalls) => Promise<number | void>,
): Promise<number> {
  if (args.url !== undefined || args.token !== undefined || args.tokenFile !== undefined)
    throw usageError(
      '--data is for a service that is stopped, --url and --token are for one that runs',
      'give one or the other',
    );
  const { openOfflineTokens } = await import('../../service/run/offline-tokens.ts');
  let offline: OfflineTokens;
  try {
    refuseForeignFolder(resolve(data));
    offline = openOfflineTokens(resolve(data));
  } catch (error) {
    if (codeOf(error) !== 'E_DATA_DIR_LOCKED') throw error;
    const fix = 'stop that process, or leave --data out and ask the service with --url and --token';
    throw new TailraceError('E_DATA_DIR_LOCKED', messageOf(error), { fix, cause: error });
  }
  try {
    return (
      (await work({
        list: () => Promise.resolve(offline.list()),
        create: (wanted) => Promise.resolve(offline.create(wanted)),
        revoke: (id) => Promise.resolve(offline.revoke(id)),
      })) ?? 0
    );
  } finally {
    offline.close();
  }
}
