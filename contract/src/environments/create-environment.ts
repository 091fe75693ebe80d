/**
 * Bodies that create and change environments: as the wire brings them, and the one form that
 * the service works with.
 */
import { type Static, Type } from 'typebox';
import {
  ConfigurationSetChanges,
  type DeployRequest,
  DeployRequestBody,
  normalizeDeployRequest,
  normalizeSetChanges,
  type RunRequest,
  Ttl,
} from '../deployments/deploy-request.ts';
import { clearable } from '../schema/empty-fields.ts';
import { creatableTemplateTypes, oneOf, templateTypes } from '../schema/enumerations.ts';
import { noEffects, withoutEffect, withoutEffectOf } from '../schema/no-effect.ts';
import { closed, Flag, Name, orNull, Prose, Text, Title } from '../schema/schema.ts';
import { type WithoutNulls, withoutNulls } from '../schema/without-nulls.ts';
import { type RetrySettings, templateSettingFields } from '../templates/template-body.ts';
import {
  normalizeVariableChanges,
  type VariableChange,
  VariableChanges,
  variableChangeFields,
} from '../variables/shapes.ts';

/** A name that the tools accept as a workspace and a file system as a folder. */
const WorkspaceName = Type.String({ pattern: '^[A-Za-z0-9_][A-Za-z0-9._~$&+=:@-]{0,89}$' });

const Tags = Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 50, uniqueItems: true });

/** On unless a request says otherwise: both values mean something. */
const PathChangesOnly = withoutEffectOf(Flag, [true, false], noEffects.deployedPaths);

const environmentFields = {
  name: Title,
  projectId: Type.String({ minLength: 1 }),
  workspaceName: Type.Optional(WorkspaceName),
  requiresApproval: Type.Optional(Flag),
  ttl: orNull(Ttl),
  configurationChanges: Type.Optional(VariableChanges),
  configurationSetChanges: orNull(ConfigurationSetChanges),
  continuousDeployment: Type.Optional(withoutEffect(Flag, noEffects.continuousDeployment)),
  pullRequestPlanDeployments: Type.Optional(withoutEffect(Flag, noEffects.pullRequestPlanDeployments)),
  vcsPrCommentsEnabled: Type.Optional(withoutEffect(Flag, noEffects.commentsRead)),
  vcsCommandsAlias: Type.Optional(withoutEffect(Text, noEffects.commentsRead)),
  driftDetectionRequest: orNull(closed({ enabled: Type.Optional(Flag), cron: Type.Optional(Name) })),
  autoDeployOnPathChangesOnly: Type.Optional(PathChangesOnly),
  autoDeployByCustomGlob: Type.Optional(withoutEffect(Text, noEffects.deployedPaths)),
  terragruntWorkingDirectory: Type.Optional(Text),
  isRemoteBackend: Type.Optional(Flag),
  k8sNamespace: Type.Optional(Text),
  preventAutoDeploy: Type.Optional(Flag),
  isRemoteApplyEnabled: Type.Optional(withoutEffect(Flag, noEffects.remoteApply)),
  tags: orNull(Tags),
};

export const CreateEnvironmentBody = closed({
  ...environmentFields,
  organizationId: Name,
  deployRequest: orNull(DeployRequestBody),
  repository: Name,
  type: oneOf(templateTypes),
  isSingleUse: Type.Optional(Flag),
  ...templateSettingFields,
});
export type CreateEnvironmentBody = Static<typeof CreateEnvironmentBody>;

/** `type` is sent for workflows only; any other must be that of the template. */
export const CreateFromTemplateBody = closed({
  ...environmentFields,
  deployRequest: DeployRequestBody,
  type: Type.Optional(oneOf(creatableTemplateTypes)),
  description: Type.Optional(Prose),
});
export type CreateFromTemplateBody = Static<typeof CreateFromTemplateBody>;

/** Fields of both bodies with more than one form, or in more than one place. */
type ManyForms = Pick<
  CreateEnvironmentBody,
  | 'name'
  | 'ttl'
  | 'deployRequest'
  | 'configurationChanges'
  | 'configurationSetChanges'
  | 'driftDetectionRequest'
>;

/** The one form of these. */
interface OneForm {
  name: string;
  ttl?: Ttl;
  /** Those of the body, then those of `deployRequest`. */
  configurationChanges: VariableChange[];
  /** Location of each of them. */
  variableFields: string[];
  /** Those of the body, then those of `deployRequest`, each with their location. */
  configurationSetChanges: (DeployRequest['configurationSetChanges'] & { field: string })[];
  deployRequest: RunRequest;
  driftDetectionRequest?: { enabled: boolean; cron?: string };
}

export type CreateEnvironment = Omit<WithoutNulls<CreateEnvironmentBody>, keyof OneForm | 'retry'> &
  OneForm & { retry?: RetrySettings };

/** An environment that is created, wherever its template comes from. */
export type NewEnvironment = Omit<WithoutNulls<CreateFromTemplateBody>, keyof OneForm> &
  OneForm & { organizationId: string };

/**
 * `deployRequest` applies to a new environment as a deploy with the same fields would: its name replaces that of
 * the environment, and its changes follow those of the body. Only a `ttl` outside of it wins.
 */
function normalizeForms(body: ManyForms): OneForm {
  const { configurationChanges, configurationSetChanges, ...deployRequest } = normalizeDeployRequest(
    body.deployRequest,
  );
  const ttl = body.ttl ?? deployRequest.ttl;
  const drift = body.driftDetectionRequest;
  const inDeploy = body.deployRequest?.configurationChanges;
  return {
    name: deployRequest.envName ?? body.name,
    ...(ttl ? { ttl } : {}),
    configurationChanges: [...normalizeVariableChanges(body.configurationChanges), ...configurationChanges],
    variableFields: [
      ...variableChangeFields(body.configurationChanges, 'body.configurationChanges'),
      ...variableChangeFields(inDeploy, 'body.deployRequest.configurationChanges'),
    ],
    configurationSetChanges: [
      { ...normalizeSetChanges(body.configurationSetChanges), field: 'body.configurationSetChanges' },
      { ...configurationSetChanges, field: 'body.deployRequest.configurationSetChanges' },
    ],
    deployRequest,
    ...(drift
      ? { driftDetectionRequest: { ...drift, enabled: drift.enabled ?? drift.cron !== undefined } }
      : {}),
  };
}

/**
 * The normal form of a create request.
 * @param body a body that has passed `CreateEnvironmentBody`
 */
export function normalizeCreateEnvironment(body: CreateEnvironmentBody): CreateEnvironment {
  const { deployRequest: _, driftDetectionRequest: _drift, retry, ...fields } = body;
  return {
    ...withoutNulls(fields),
    ...normalizeForms(body),
    ...(retry ? { retry: withoutNulls(retry) } : {}),
  };
}

/**
 * The normal form of a request to create an environment from a template.
 * @param body a body that has passed `CreateFromTemplateBody`
 * @param organizationId of its project
 */
export function normalizeCreateFromTemplate(
  body: CreateFromTemplateBody,
  organizationId: string,
): NewEnvironment {
  const { driftDetectionRequest: _, ...fields } = body;
  return { ...withoutNulls(fields), organizationId, ...normalizeForms(body) };
}

/**
 * A partial update: a field that is absent stays as it is; null means what a new environment of the project would
 * have.
 */
export const UpdateEnvironmentBody = closed({
  name: Type.Optional(Title),
  requiresApproval: orNull(Flag),
  isArchived: Type.Optional(clearable(Flag, false)),
  continuousDeployment: orNull(withoutEffect(Flag, noEffects.continuousDeployment)),
  pullRequestPlanDeployments: orNull(withoutEffect(Flag, noEffects.pullRequestPlanDeployments)),
  vcsCommandsAlias: Type.Optional(clearable(withoutEffect(Text, noEffects.commentsRead), '')),
  vcsPrCommentsEnabled: orNull(withoutEffect(Flag, noEffects.commentsRead)),
  autoDeployOnPathChangesOnly: Type.Optional(clearable(PathChangesOnly, true)),
  autoDeployByCustomGlob: Type.Optional(clearable(withoutEffect(Text, noEffects.deployedPaths), '')),
  terragruntWorkingDirectory: Type.Optional(clearable(Text, '')),
  isRemoteBackend: orNull(Flag),
  isRemoteApplyEnabled: Type.Optional(clearable(withoutEffect(Flag, noEffects.remoteApply), false)),
  description: Type.Optional(clearable(Prose, '')),
  tags: Type.Optional(clearable(Tags, [])),
});
export type UpdateEnvironmentBody = Static<typeof UpdateEnvironmentBody>;
