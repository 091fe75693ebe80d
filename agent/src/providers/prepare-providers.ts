/** The agent's settings for providers, checked once at its start. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { type AgentSettings, SettingsError } from '#settings/settings.ts';
import { type OperatorConfiguration, readOperatorConfiguration, secretsOf } from './cli-configuration.ts';
import { foldersOf, type ProviderMirror, type ProviderOrder } from './installation.ts';
import { openProviderCache } from './provider-cache.ts';

export type ProviderSettings = Pick<
  AgentSettings,
  | 'providerCache'
  | 'providerCacheFolder'
  | 'providerCacheMegabytes'
  | 'providerMirror'
  | 'registryPrivateHosts'
  | 'terraformCliConfig'
>;

export interface PreparedProviders {
  readonly order: ProviderOrder;
  /** Values that must not appear in any log. */
  readonly secrets: readonly string[];
}

const nothing: OperatorConfiguration = { rest: '', hosts: {}, credentials: {}, installation: null };

/**
 * @param workFolder every run may traverse it
 * @throws SettingsError that names the setting and the problem
 */
export async function prepareProviders(
  settings: ProviderSettings,
  workFolder: string,
): Promise<PreparedProviders> {
  const operator = await readOperator(settings.terraformCliConfig?.reveal());
  const mirror = readMirror(settings.providerMirror);
  if (mirror !== null && operator.installation !== null)
    throw new SettingsError([
      'ENVARIUM_PROVIDER_MIRROR and provider_installation in ENVARIUM_TERRAFORM_CLI_CONFIG both specify where providers come from; set only one of them.',
    ]);
  if (mirror?.kind === 'folder') await mustRead(mirror.path, 'ENVARIUM_PROVIDER_MIRROR names');
  for (const folder of foldersOf(operator.installation ?? []))
    await mustRead(folder, 'ENVARIUM_TERRAFORM_CLI_CONFIG names the filesystem_mirror');
  const folder = settings.providerCacheFolder ?? join(workFolder, '.providers');
  const cache = settings.providerCache
    ? { folder, limitBytes: settings.providerCacheMegabytes * 1_000_000 }
    : null;
  if (cache !== null) await openCache(folder);
  return {
    order: { cache, mirror, operator, privateHosts: [...settings.registryPrivateHosts] },
    secrets: secretsOf(operator),
  };
}

async function readOperator(text: string | undefined): Promise<OperatorConfiguration> {
  if (text === undefined) return nothing;
  try {
    return await readOperatorConfiguration(text);
  } catch (error) {
    throw new SettingsError([`ENVARIUM_TERRAFORM_CLI_CONFIG: ${(error as Error).message}.`]);
  }
}

function readMirror(value: string | undefined): ProviderMirror | null {
  if (value === undefined) return null;
  return value.startsWith('/') ? { kind: 'folder', path: value } : { kind: 'address', url: value };
}

async function mustRead(folder: string, what: string): Promise<void> {
  try {
    await access(folder, constants.R_OK | constants.X_OK);
  } catch (error) {
    throw new SettingsError([`${what} ${folder}, which cannot be read: ${(error as Error).message}.`]);
  }
}

async function openCache(folder: string): Promise<void> {
  try {
    await openProviderCache(folder);
  } catch (error) {
    throw new SettingsError([
      `ENVARIUM_PROVIDER_CACHE_DIR: the provider cache cannot be created: ${(error as Error).message}.`,
    ]);
  }
}
