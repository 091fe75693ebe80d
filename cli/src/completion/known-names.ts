/** Names for completion: requested with a short timeout, cached briefly, and without errors. */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { createClient } from '#contract/client/client.ts';
import { listAgents } from '../find/find-environment.ts';
import {
  type CommandEnvironment,
  configFileOf,
  readConfigFile,
  requireLogin,
  resolveSettings,
  type StoredLogin,
} from '../session/settings.ts';
import { trustAuthorities } from '../session/trust.ts';
import type { CompletionCandidate } from './candidate.ts';

export interface KnownNames {
  readonly environments: readonly CompletionCandidate[];
  readonly projects: readonly CompletionCandidate[];
  readonly agents: readonly CompletionCandidate[];
}

const freshMilliseconds = 30_000;
const limitMilliseconds = 1_500;
const most = 100;

/** A file for each service and key, readable only by its owner. */
function cacheFileOf(environment: CommandEnvironment, { apiUrl, apiKey }: StoredLogin, kind: string): string {
  const folder = environment.XDG_CACHE_HOME || join(environment.HOME || homedir(), '.cache');
  const whose = createHash('sha256').update(`${apiUrl} ${apiKey}`).digest('hex').slice(0, 16);
  return join(folder, 'envarium', 'names', `${whose}-${kind}.json`);
}

async function readFresh(file: string): Promise<readonly CompletionCandidate[] | null> {
  const { mtimeMs } = await stat(file);
  if (Date.now() - mtimeMs > freshMilliseconds) return null;
  return JSON.parse(await readFile(file, 'utf8')) as CompletionCandidate[];
}

async function write(file: string, names: readonly CompletionCandidate[]): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}`;
  await writeFile(temporary, JSON.stringify(names), { mode: 0o600 });
  await rename(temporary, file);
}

async function ask(kind: keyof KnownNames, login: StoredLogin): Promise<readonly CompletionCandidate[]> {
  const { apiUrl: url, apiKey: key, apiSecret: secret, organizationId } = login;
  const client = createClient({ url, key, secret });
  const signal = AbortSignal.timeout(limitMilliseconds);
  switch (kind) {
    case 'environments': {
      const query = {
        organizationId,
        isActive: true,
        limit: most,
        excludeFields: 'latestDeploymentLog,resources',
      };
      return (await client.call('listEnvironments', { query, signal })).map(({ name, status }) => ({
        value: name,
        description: status,
      }));
    }
    case 'projects': {
      const all = await client.call('listProjects', { query: { organizationId }, signal });
      return all
        .filter(({ isArchived }) => !isArchived)
        .map(({ name, description }) => ({ value: name, description }));
    }
    case 'agents': {
      const all = await listAgents(client, organizationId, signal);
      return all.map(({ agentKey, status }) => ({ value: agentKey, description: status }));
    }
  }
}

/** @returns names of a kind, or none without a login or a quick response of the service */
export async function knownNames(
  kind: keyof KnownNames,
  environment: CommandEnvironment,
): Promise<readonly CompletionCandidate[]> {
  try {
    const stored = await readConfigFile(configFileOf(environment));
    const login = requireLogin(resolveSettings({}, environment, stored), stored);
    const file = cacheFileOf(environment, login, kind);
    const kept = await readFresh(file).catch(() => null);
    if (kept !== null) return kept;
    await trustAuthorities(environment);
    const names = await ask(kind, login);
    await write(file, names).catch(() => undefined);
    return names;
  } catch {
    return [];
  }
}
