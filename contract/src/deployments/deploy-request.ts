/**
 * The request for a deployment: the body as sent, and the normal form that the service works with.
 */
import { type Static, Type } from 'typebox';
import {
  autoDriftRemediations,
  forgeRemediations,
  oneOf,
  startableDeploymentTypes,
  triggerNames,
} from '../schema/enumerations.ts';
import { noEffects, withoutEffectOf } from '../schema/no-effect.ts';
import { closed, Flag, mapOf, Name, orNull, Prose, Text, Title } from '../schema/schema.ts';
import { type WithoutNulls, withoutNulls } from '../schema/without-nulls.ts';
import { normalizeVariableChanges, type VariableChange, VariableChanges } from '../variables/shapes.ts';
import { CustomServiceEnvironmentVariables } from './custom-variables.ts';
import { WorkflowDeploymentOptions } from './shapes.ts';
import { splitTargets } from './split-targets.ts';

const ttlTypes = ['DATE', 'HOURS', 'INFINITE'] as const;
export const Ttl = closed(
  {
    type: oneOf(ttlTypes),
    value: Type.Optional(
      Type.String({ description: 'A date with DATE, a number of hours with HOURS, absent with INFINITE' }),
    ),
  },
  'Ttl',
);
export type Ttl = Static<typeof Ttl>;

export const GitUserData = closed(
  { gitUser: Type.Optional(Text), gitAvatarUrl: Type.Optional(Text), prNumber: Type.Optional(Text) },
  'GitUserData',
);
export type GitUserData = Static<typeof GitUserData>;

export const ConfigurationSetChanges = closed(
  { assign: orNull(Type.Array(Name)), unassign: orNull(Type.Array(Name)) },
  'ConfigurationSetChanges',
);

/** `targets`: an array, or one string with commas between the addresses. */
const Targets = Type.Unsafe<string | string[] | null>({
  type: ['array', 'string', 'null'],
  items: { type: 'string', minLength: 1 },
});

const SubEnvironment = closed(
  {
    revision: Type.Optional(Text),
    workspaceName: Type.Optional(Text),
    k8sNamespace: Type.Optional(Text),
    terragruntWorkingDirectory: Type.Optional(Text),
    configurationChanges: Type.Optional(VariableChanges),
    configurationSetChanges: orNull(ConfigurationSetChanges),
    isRemoteBackend: Type.Optional(Flag),
    userRequiresApproval: Type.Optional(Flag),
  },
  'SubEnvironment',
);

/** Characters of a task. */
export const taskPayloadLimit = 100_000;

const deployRequestFields = {
  deploymentType: Type.Optional(
    withoutEffectOf(oneOf(startableDeploymentTypes), ['moduleTest'], noEffects.tests),
  ),
  blueprintId: Type.Optional(Text),
  blueprintRevision: Type.Optional(Text),
  blueprintRepository: Type.Optional(Name),
  configurationChanges: Type.Optional(VariableChanges),
  configurationSetChanges: orNull(ConfigurationSetChanges),
  ttl: orNull(Ttl),
  envName: Type.Optional(Title),
  userRequiresApproval: Type.Optional(Flag),
  targets: Type.Optional(Targets),
  customServiceEnvironmentVariables: orNull(CustomServiceEnvironmentVariables),
  gitUserData: orNull(GitUserData),
  comment: Type.Optional(Prose),
  triggerName: Type.Optional(oneOf(triggerNames)),
  upstreamEnvironmentId: Type.Optional(Text),
  taskPayload: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: taskPayloadLimit,
      description:
        'With `deploymentType` task: shell commands; the first that fails ends the task. The log shows them: ' +
        'pass secrets as sensitive environment variables, not in the text. Refused with other types',
    }),
  ),
  sourceId: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Only with `deploymentType` remotePlan: the id of the uploaded code, as returned by ' +
        '`uploadSource`',
    }),
  ),
  importUnrecorded: Type.Optional(
    Type.Boolean({
      description:
        'Only with `deploymentType` deploy or dryRun: the plan imports the `unrecordedResources` that were ' +
        'certainly created and have an id, of all deployments since the last successful deploy or destroy. ' +
        '409 if there are none',
    }),
  ),
  subEnvironments: orNull(mapOf(SubEnvironment)),
  autoDriftRemediationStrategy: Type.Optional(
    withoutEffectOf(
      oneOf(
        autoDriftRemediations,
        'Only with `deploymentType` driftDetection: what to do if this run finds drift, instead of what the ' +
          'drift schedule says',
      ),
      forgeRemediations,
      noEffects.driftPullRequests,
    ),
  ),
  workflowDeploymentId: Type.Optional(Text),
  workflowDeploymentOptions: orNull(WorkflowDeploymentOptions),
  subEnvironmentAlias: Type.Optional(Text),
};

/** `deployRequest` of a create. */
export const DeployRequestBody = closed(deployRequestFields, 'DeployRequest');
export type DeployRequestBody = Static<typeof DeployRequestBody>;

/** The body of a deploy: the same, also wrapped in `deployRequest`. */
export const DeployBody = closed({ ...deployRequestFields, deployRequest: orNull(DeployRequestBody) });
export type DeployBody = Static<typeof DeployBody>;

type NormalizedField =
  | 'configurationChanges'
  | 'configurationSetChanges'
  | 'targets'
  | 'subEnvironments'
  | 'deploymentType';
export type DeployRequest = Omit<WithoutNulls<DeployRequestBody>, NormalizedField> & {
  deploymentType: (typeof startableDeploymentTypes)[number];
  configurationChanges: VariableChange[];
  configurationSetChanges: { assign: string[]; unassign: string[] };
  targets: string[];
  subEnvironments?: Record<
    string,
    Omit<WithoutNulls<Static<typeof SubEnvironment>>, 'configurationChanges'> & {
      configurationChanges: VariableChange[];
    }
  >;
};

/** The same without the changes of variables and sets. */
export type RunRequest = Omit<DeployRequest, 'configurationChanges' | 'configurationSetChanges'>;

/** `configurationSetChanges` in every accepted form. */
export function normalizeSetChanges(
  changes: Static<typeof ConfigurationSetChanges> | null | undefined,
): DeployRequest['configurationSetChanges'] {
  return { assign: changes?.assign ?? [], unassign: changes?.unassign ?? [] };
}

function normalizeTargets(targets: Static<typeof Targets> | undefined): string[] {
  return typeof targets === 'string' ? splitTargets(targets) : (targets ?? []);
}

/**
 * The one form of a deploy request, out of every form that the wire accepts: wrapped in `deployRequest`
 * (whose fields win), targets as text, changes as one object, nulls.
 * @param body a body that has passed `DeployBody` or `DeployRequestBody`; absent: nothing was specified
 */
export function normalizeDeployRequest(
  body: DeployBody | DeployRequestBody | null | undefined,
): DeployRequest {
  const { deployRequest, ...outer } = (body ?? {}) as DeployBody;
  const {
    configurationChanges,
    configurationSetChanges,
    targets,
    subEnvironments,
    deploymentType,
    ...fields
  } = {
    ...outer,
    ...deployRequest,
  };
  const aliases = Object.entries(subEnvironments ?? {});
  return {
    ...withoutNulls(fields),
    deploymentType: deploymentType ?? 'deploy',
    configurationChanges: normalizeVariableChanges(configurationChanges),
    configurationSetChanges: normalizeSetChanges(configurationSetChanges),
    targets: normalizeTargets(targets),
    ...(aliases.length > 0
      ? {
          subEnvironments: Object.fromEntries(
            aliases.map(([alias, settings]) => [alias, normalizeSubEnvironment(settings)]),
          ),
        }
      : {}),
  };
}

function normalizeSubEnvironment(
  settings: Static<typeof SubEnvironment>,
): NonNullable<DeployRequest['subEnvironments']>[string] {
  const { configurationChanges, ...fields } = settings;
  return { ...withoutNulls(fields), configurationChanges: normalizeVariableChanges(configurationChanges) };
}
