/** The providers and modules that a run used, from terraform's own records. */
import { readLockFile } from './lock-file.ts';

/** Versions by source address, from the dependency lock file that init writes. */
export function lockedProviders(lockFile: string | null): Record<string, string> {
  const named = readLockFile(lockFile ?? '').filter(({ version }) => version !== '');
  return Object.fromEntries(named.map(({ source, version }) => [source, version]));
}

interface ModuleRecord {
  readonly Key: string;
  readonly Source: string;
  readonly Version?: string;
}

function versionOf(module: ModuleRecord): string | undefined {
  if (module.Version) return module.Version;
  return /[?&]ref=([^&]+)/.exec(module.Source)?.[1];
}

/** Records of init about modules. */
export const modulesFileName = '.terraform/modules/modules.json';

/**
 * Versions by module path (`network.subnets`), from init's `modules.json`; for a git source its `ref`; none
 * for local modules.
 */
export function installedModules(modulesFile: string | null): Record<string, string> {
  let modules: readonly ModuleRecord[];
  try {
    modules = (JSON.parse(modulesFile ?? '') as { Modules: readonly ModuleRecord[] }).Modules;
  } catch {
    return {};
  }
  const versions: Record<string, string> = {};
  for (const module of modules) {
    const version = versionOf(module);
    if (version !== undefined) versions[module.Key] = version;
  }
  return versions;
}
