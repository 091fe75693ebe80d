/** The settings of an environment as a form has them, and what to send. Pure. */
import type { CallInput } from '#contract/client/client.ts';
import type { EnvironmentReply } from '../facts/reads.ts';

export interface SettingsValues {
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly requiresApproval: boolean;
  readonly continuousDeployment: boolean;
  readonly pullRequestPlanDeployments: boolean;
  readonly autoDeployOnPathChangesOnly: boolean;
  readonly autoDeployByCustomGlob: string;
  readonly vcsCommandsAlias: string;
  readonly vcsPrCommentsEnabled: boolean;
  readonly terragruntWorkingDirectory: string;
  readonly isRemoteBackend: boolean;
  readonly isRemoteApplyEnabled: boolean;
}

export type SettingName = keyof SettingsValues;

/** Initial values of the form. */
export function settingsOf(environment: EnvironmentReply): SettingsValues {
  return {
    name: environment.name,
    description: environment.description ?? '',
    tags: environment.tags,
    requiresApproval: environment.requiresApproval,
    continuousDeployment: environment.continuousDeployment,
    pullRequestPlanDeployments: environment.pullRequestPlanDeployments,
    autoDeployOnPathChangesOnly: environment.autoDeployOnPathChangesOnly,
    autoDeployByCustomGlob: environment.autoDeployByCustomGlob ?? '',
    vcsCommandsAlias: environment.vcsCommandsAlias ?? '',
    vcsPrCommentsEnabled: environment.vcsPrCommentsEnabled ?? false,
    terragruntWorkingDirectory: environment.terragruntWorkingDirectory ?? '',
    isRemoteBackend: environment.isRemoteBackend,
    isRemoteApplyEnabled: environment.isRemoteApplyEnabled ?? false,
  };
}

const names = Object.keys(settingsOf({ tags: [] } as never)) as SettingName[];

/** The settings in which two versions differ. */
export function differences(one: SettingsValues, other: SettingsValues): SettingName[] {
  return names.filter((name) => JSON.stringify(one[name]) !== JSON.stringify(other[name]));
}

/**
 * The settings that this form and another user have both changed since the form began, to different values: only
 * these need a decision, all others are kept.
 * @param began what the form began with
 */
export function conflicts(
  began: SettingsValues,
  mine: SettingsValues,
  theirs: SettingsValues,
): SettingName[] {
  const apart = new Set(differences(mine, theirs));
  const changed = new Set(differences(began, mine));
  return differences(began, theirs).filter((name) => changed.has(name) && apart.has(name));
}

/** Request: only changed fields, all others stay unchanged. */
export function settingsBody(
  began: SettingsValues,
  mine: SettingsValues,
): CallInput<'updateEnvironment'>['body'] {
  return Object.fromEntries(differences(began, mine).map((name) => [name, mine[name]]));
}

/** Changes of another user, with the settings that were edited here. */
export function mergedWith(
  theirs: SettingsValues,
  began: SettingsValues,
  mine: SettingsValues,
): SettingsValues {
  return { ...theirs, ...(settingsBody(began, mine) as Partial<SettingsValues>) };
}
