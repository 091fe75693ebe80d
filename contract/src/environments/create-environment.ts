/**
 * What an environment is created from and changed with: bodies as the wire brings them, and the one form that
 * the service works with.
 */
import { type Static, Type } from 'typebox';
import {
  ConfigurationSetChanges,
  DeployRequestBody,
  type DeployRequest,
  normalizeDeployRequest,
  normalizeSetChanges,
  Ttl,
} from '../deployments/deploy-request.ts';
import { oneOf, templateTypes } from '../schema/enumerations.ts';
import { noEffects, withoutEffect } from '../schema/no-effect.ts';
import { type WithoutNulls, withoutNulls } from '../schema/without-nulls.ts';
import { closed, Flag, Name, orNull, Prose, Text, Title } from '../schema/schema.ts';
import {
  Retry,
  sourceRequestFields,
  TerragruntTfBinary,
  toolVersionRequestFields,
} from '../sources/shapes.ts';
import { normalizeVariableChanges, type VariableChange, VariableChanges } from '../variables/shapes.ts';

export const creationScopes = ['ORGANIZATION', 'PROJECT'] as const;

/** A name that the tools accept as a workspace and a file system as a folder. */
const WorkspaceName = Type.String({ pattern: '^[A-Za-z0-9_][A-Za-z0-9._~$&+=:@-]{0,89}$' });

const Tags = Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 50, uniqueItems: true });

const environmentFields = {
  name: Title,
  projectId: Type.String({ minLength: 1 }),
  organizationId: Name,
  workspaceName: Type.Optional(WorkspaceName),
  requiresApproval: Type.Optional(Flag),
  ttl: orNull(Ttl),
  deployRequest: orNull(DeployRequestBody),
  configurationChanges: Type.Optional(VariableChanges),
  configurationSetChanges: orNull(ConfigurationSetChanges),
  continuousDeployment: Type.Optional(withoutEffect(Flag, noEffects.continuousDeployment)),
  pullRequestPlanDeployments: Type.Optional(withoutEffect(Flag, noEffects.pullRequestPlanDeployments)),
  vcsPrCommentsEnabled: Type.Optional(Flag),
  vcsCommandsAlias: Type.Optional(Text),
  driftDetectionRequest: orNull(closed({ enabled: Type.Optional(Flag), cron: Type.Optional(Text) })),
  autoDeployOnPathChangesOnly: Type.Optional(Flag),
  autoDeployByCustomGlob: Type.Optional(Text),
  terragruntWorkingDirectory: Type.Optional(Text),
  isRemoteBackend: Type.Optional(Flag),
  k8sNamespace: Type.Optional(Text),
  preventAutoDeploy: Type.Optional(Flag),
  isRemoteApplyEnabled: Type.Optional(Flag),
  tags: orNull(Tags),
};

const templateFields = {
  repository: Name,
  type: oneOf(templateTypes),
  description: Type.Optional(Prose),
  retry: orNull(Retry),
  runTestsOnPullRequest: Type.Optional(Flag),
  isTerragruntRunAll: Type.Optional(Flag),
  projectIds: orNull(Type.Array(Name)),
  tagPrefix: Type.Optional(Text),
  creationScopeId: Type.Optional(Text),
  creationScope: Type.Optional(oneOf(creationScopes)),
  isSingleUse: Type.Optional(Flag),
  ...sourceRequestFields,
  ...toolVersionRequestFields,
  terragruntTfBinary: Type.Optional(TerragruntTfBinary),
};

export const CreateEnvironmentBody = closed({ ...environmentFields, ...templateFields });
export type CreateEnvironmentBody = Static<typeof CreateEnvironmentBody>;

type Special =
  | 'deployRequest'
  | 'configurationChanges'
  | 'configurationSetChanges'
  | 'retry'
  | 'driftDetectionRequest';
export type RetrySettings = { [K in keyof Retry]: Exclude<Retry[K], null> };

export type CreateEnvironment = Omit<WithoutNulls<CreateEnvironmentBody>, Special> & {
  /**
   * Changes of both places that the wire has for them: `deployRequest.configurationChanges` come after the
   * body's own.
   */
  configurationChanges: VariableChange[];
  configurationSetChanges: DeployRequest['configurationSetChanges'];
  deployRequest: DeployRequest;
  retry?: RetrySettings;
  driftDetectionRequest?: { enabled: boolean; cron?: string };
};

/**
 * The normal form of a create request. Changes of variables and sets in `deployRequest` are moved to those of
 * the body: a new environment has no others.
 * @param body a body that has passed `CreateEnvironmentBody`
 */
export function normalizeCreateEnvironment(body: CreateEnvironmentBody): CreateEnvironment {
  const {
    deployRequest: deploy,
    configurationChanges,
    configurationSetChanges,
    retry,
    driftDetectionRequest: drift,
    ...fields
  } = body;
  const deployRequest = normalizeDeployRequest(deploy);
  const sets = normalizeSetChanges(configurationSetChanges);
  return {
    ...withoutNulls(fields),
    configurationChanges: [
      ...normalizeVariableChanges(configurationChanges),
      ...deployRequest.configurationChanges,
    ],
    configurationSetChanges: {
      assign: [...sets.assign, ...deployRequest.configurationSetChanges.assign],
      unassign: [...sets.unassign, ...deployRequest.configurationSetChanges.unassign],
    },
    deployRequest: {
      ...deployRequest,
      configurationChanges: [],
      configurationSetChanges: { assign: [], unassign: [] },
    },
    ...(retry ? { retry: withoutNulls(retry) } : {}),
    ...(drift
      ? { driftDetectionRequest: { ...drift, enabled: drift.enabled ?? drift.cron !== undefined } }
      : {}),
  };
}

/** A partial update: a field that is absent stays as it is. */
export const UpdateEnvironmentBody = closed({
  name: Type.Optional(Title),
  requiresApproval: Type.Optional(Flag),
  isArchived: Type.Optional(Flag),
  continuousDeployment: Type.Optional(withoutEffect(Flag, noEffects.continuousDeployment)),
  pullRequestPlanDeployments: Type.Optional(withoutEffect(Flag, noEffects.pullRequestPlanDeployments)),
  vcsCommandsAlias: Type.Optional(Text),
  vcsPrCommentsEnabled: Type.Optional(Flag),
  autoDeployOnPathChangesOnly: Type.Optional(Flag),
  autoDeployByCustomGlob: Type.Optional(Text),
  terragruntWorkingDirectory: Type.Optional(Text),
  isRemoteBackend: Type.Optional(Flag),
  isRemoteApplyEnabled: Type.Optional(Flag),
  description: Type.Optional(Prose),
  tags: orNull(Tags),
});
export type UpdateEnvironmentBody = Static<typeof UpdateEnvironmentBody>;
