/** The settings of environment discovery. Without schemas, for the start of the command line. */
import { codeSettingNames } from '../sources/setting-names.ts';
import type { SetDiscoveryBody } from './operations.ts';
import type { Discovery } from './shapes.ts';

type DiscoverySetting = keyof SetDiscoveryBody & keyof Discovery;

/** Settings that say where folders are found in one repository. Discovery files have none of them. */
export const globSettingNames = [
  'repository',
  'revision',
  'type',
  'globPattern',
  'environmentPlacement',
  'rootPath',
  'workspaceNaming',
  'autoDeployByCustomGlob',
] as const satisfies readonly DiscoverySetting[];

const otherSettingNames = [
  'createNewEnvironmentsFromPullRequests',
  'discoveryFileConfiguration',
  'onRemoval',
  'removalLimitPercent',
  'isTerragruntRunAll',
  ...codeSettingNames,
] as const satisfies readonly DiscoverySetting[];

/**
 * The request that stores a configuration as it is: a request replaces all settings, so that a change of some sends
 * the others back.
 */
export function settingsOf(discovery: Discovery): SetDiscoveryBody {
  return Object.fromEntries(
    [...globSettingNames, ...otherSettingNames].flatMap((name) => {
      const value: unknown = discovery[name];
      return value === undefined || value === null || value === '' ? [] : [[name, value]];
    }),
  );
}
