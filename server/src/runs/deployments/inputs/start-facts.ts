/** Facts from which a deployment of an environment is decided and made: each is read once per request. */
import { sql, type Updateable } from 'kysely';
import type { GitUserData } from '#contract/deployments/deploy-request.ts';
import type { AutoDriftRemediation, DeploymentType, Trigger } from '#contract/schema/enumerations.ts';
import type { VariableChange } from '#contract/variables/shapes.ts';
import type { ResourceToImport } from '#protocol/messages/job.ts';
import type { RunSettings } from '#protocol/tools/run-settings.ts';
import { environmentTemplate } from '../../../code/templates/environment-template.ts';
import type { ActorContext, Connection } from '../../../framework/context.ts';
import { awaitFields } from '../../../ground/await-fields.ts';
import type { SetChanges } from '../../../inputs/configuration-sets/change-assignments.ts';
import { hasPoliciesFor } from '../../../rows/custom-flows/assignment-store.ts';
import { type DeploymentRow, openDeployments } from '../../../rows/deployments/deployment-store.ts';
import { wasTouched } from '../../../rows/dispatch/run-store.ts';
import type { EnvironmentRow, LockedEnvironment } from '../../../rows/environments/environment-store.ts';
import { policyOf, type SelfApproval, selfApprovalOf } from '../../../rows/project-policies/policy-store.ts';
import { holdProjectWith } from '../../../rows/projects/project-store.ts';
import type { EnvironmentTable } from '../../../rows/schema.ts';
import { getStateLock, type StateLockRow } from '../../../rows/state/state-lock-store.ts';
import { getStateVersion } from '../../../rows/state/state-store.ts';
import type { TemplateSettings } from '../../../rows/templates/columns.ts';
import { getTemplateRow, type TemplateRow } from '../../../rows/templates/template-store.ts';
import { getUsers, type UserRow } from '../../../rows/users/user-store.ts';
import { type DemandPlace, liftersIn } from '../../../tenancy/project-policies/lift-approval.ts';
import { type PolicySettings, settingsOf } from '../../../tenancy/project-policies/policy-settings.ts';
import { projectsThatDemand } from '../../../tenancy/project-policies/project-demands.ts';
import { lastDeployFor } from './last-deploy.ts';
import type { RequestedCode, RequestedSettings } from './run-inputs.ts';

/** Changes to the code of this run and all later ones. */
export interface CodeChange {
  readonly requested: RequestedCode;
  /** As the environment uses it then. */
  readonly template: TemplateRow;
  /** Changes to the environment's row. */
  readonly columns?: Updateable<EnvironmentTable>;
  /** Changes to the environment's own template. */
  readonly ownTemplate?: { readonly repository: string; readonly settings: TemplateSettings };
}

/** Changes to the environment's own settings, for this run and all later ones. */
export interface SettingsChange {
  readonly requested: RequestedSettings;
  readonly columns: Updateable<EnvironmentTable>;
}

/** Changes of a request to its run and all later ones; they wait for the approval if the caller may only plan. */
export interface LastingChanges {
  readonly variableChanges: readonly VariableChange[];
  /** Location of each change in the request. */
  readonly variableFields: readonly string[];
  /** Sets to assign to the environment, and to take away from it. */
  readonly setChanges?: SetChanges;
  readonly settingsChange?: SettingsChange | undefined;
  readonly codeChange?: CodeChange | undefined;
}

export const noChanges: LastingChanges = { variableChanges: [], variableFields: [] };

/** The run that a person, a schedule or the expiry requests. */
export interface StartRequest {
  readonly type: DeploymentType;
  readonly trigger: Trigger;
  /** For whom the service starts it automatically. */
  readonly requestedBy?: string;
  readonly comment?: string;
  readonly targets: readonly string[];
  readonly gitUserData?: GitUserData;
  readonly isScheduledRun?: boolean;
  /** The deployment that caused it: of one cause, each environment has one at most. */
  readonly causedBy?: string;
  readonly upstreamEnvironmentId?: string;
  /** Of this drift run, instead of the environment's. */
  readonly driftRemediation?: AutoDriftRemediation;
  readonly skipStateRefresh?: boolean;
  /** Override the template's for this run only. */
  readonly revision?: string;
  readonly repository?: string;
  readonly path?: string;
  /** Instead of those of template and environment; null: none. */
  readonly runSettings?: RunSettings | null;
  /** Runs at this commit, if it can still be fetched. */
  readonly commit?: string;
  /** Runs at the commit that was deployed last when its turn comes. */
  readonly followsLastDeploy?: boolean;
  /** Shell commands of a task. */
  readonly taskPayload?: string;
  /** Resources that the plan imports into the state. */
  readonly imports?: readonly ResourceToImport[];
  /** Uploaded code of a remote plan. */
  readonly sourceId?: string;
  readonly customEnvironmentVariables?: Record<string, string>;
}

export interface StoredFacts {
  readonly environment: LockedEnvironment;
  /** As the environment uses it. */
  readonly template: TemplateRow;
  /** Without what the environment replaces of it. */
  readonly storedTemplate: TemplateRow;
  /** Name of the project where it is archived. */
  readonly archivedProject: string | null;
  /** The project's id and those of the projects above it, as it has them. */
  readonly hierarchy: string;
  /** Of the project. */
  readonly policy: PolicySettings;
  /** Approval policies are assigned there, above it, or to the template. */
  readonly hasPolicies: boolean;
  /** The projects, this and those above it, that do not let people approve their own plans. */
  readonly demands: readonly DemandPlace[];
  /** Queued and active deployments, in the order of the queue. */
  readonly open: readonly DeploymentRow[];
  /** The last deploy, for types that take something over from it. */
  readonly lastDeploy: DeploymentRow | undefined;
  readonly resources: ResourceFacts;
  readonly stateLock: StateLockRow | undefined;
  /** The creator of the environment and the caller, by id. */
  readonly users: ReadonlyMap<string, UserRow>;
}

export interface ResourceFacts {
  /**
   * False only when it is certain: nothing ever began to change the world, or our newest state is empty. A
   * start mark without a state of ours means a backend of the code's own, or a run that died: then the tool
   * has to check.
   */
  readonly mayExist: boolean;
  /** Our current state lists some: they then exist, whatever our own deployments did. */
  readonly areRecorded: boolean;
}

/** Resources that may exist and belong to an environment. */
export async function resourcesOf(
  db: Connection,
  environment: Pick<EnvironmentRow, 'id' | 'current_state_version_id'>,
): Promise<ResourceFacts> {
  const stateId = environment.current_state_version_id;
  if (stateId === null) return { mayExist: await wasTouched(db, environment.id), areRecorded: false };
  const state = await getStateVersion(db, stateId);
  return { mayExist: state?.resource_count !== 0, areRecorded: (state?.resource_count ?? 0) > 0 };
}

/** The project is held: it is not archived before the transaction ends. */
async function projectOf(
  { db: tx, actor }: Pick<ActorContext, 'db' | 'actor'>,
  { project_id: id, template_id: templateId }: EnvironmentRow,
): Promise<Pick<StoredFacts, 'archivedProject' | 'hierarchy' | 'policy' | 'hasPolicies' | 'demands'>> {
  const project = await holdProjectWith(tx, id, policyOf, (projectId) => {
    const hasPolicies = hasPoliciesFor(templateId)(projectId);
    return sql<{ hasPolicies: boolean; selfApproval: SelfApproval[] | null }>`jsonb_build_object(
      'hasPolicies', ${hasPolicies}, 'selfApproval', ${selfApprovalOf(projectId)})`;
  });
  return {
    archivedProject: project?.is_archived ? project.name : null,
    hierarchy: project?.hierarchy ?? id,
    policy: settingsOf(project?.column),
    hasPolicies: project?.answer.hasPolicies ?? false,
    demands: await projectsThatDemand(project?.answer.selfApproval ?? null, liftersIn({ db: tx, actor })),
  };
}

export async function loadStartFacts(
  context: ActorContext,
  environment: LockedEnvironment,
  type: DeploymentType,
): Promise<StoredFacts> {
  const { db, actor } = context;
  const { storedTemplate, project, ...read } = await awaitFields({
    storedTemplate: getTemplateRow(db, environment.template_id),
    project: projectOf(context, environment),
    open: openDeployments(db, environment.id),
    lastDeploy: lastDeployFor(db, { type, environment_id: environment.id }),
    // Only a destroy depends on them.
    resources: type === 'destroy' ? resourcesOf(db, environment) : { mayExist: true, areRecorded: false },
    stateLock: getStateLock(db, environment.id),
    users: getUsers(db, [environment.user_id, actor.userId]),
  });
  if (!storedTemplate) throw new Error(`Environment ${environment.id} has no template`);
  const template = environmentTemplate(environment, storedTemplate);
  return { environment, template, storedTemplate, ...project, ...read };
}
