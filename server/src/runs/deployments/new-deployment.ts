/** The row of a new deployment: its request, its code and its inputs, and who may let it apply. */
import type { Insertable } from 'kysely';
import type { DeploymentType } from '#contract/schema/enumerations.ts';
import type { DeploymentVariable } from '#contract/variables/shapes.ts';
import type { JobVariable } from '#protocol/messages/job.ts';
import { canEstimateCosts, toolFacts } from '#protocol/tools/index.ts';
import { runSettings } from '#protocol/tools/run-settings.ts';
import { policyCheckedTypes } from '#protocol/tools/steps.ts';
import { templateColumns } from '../../code/templates/environment-template.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { Refusal } from '../../ground/errors.ts';
import { environmentHome, levelsOf } from '../../inputs/variables/levels.ts';
import { resolvedOf, resolveVariables } from '../../inputs/variables/resolve-variables.ts';
import { policiesFor } from '../../rows/custom-flows/assignment-store.ts';
import { approvalColumns } from '../../rows/deployments/columns.ts';
import type { DeploymentRow, SpeakerRow } from '../../rows/deployments/deployment-store.ts';
import type { DeploymentTable } from '../../rows/schema.ts';
import { approvalOfRun } from './approval/approval-at-start.ts';
import type { StartDecision } from './decisions/decide-start.ts';
import { lastDeployColumns, withLastVariables } from './inputs/last-deploy.ts';
import { contentsWithProposed, proposedOf } from './inputs/proposed-changes.ts';
import { sealInputs, splitCustomVariables } from './inputs/run-inputs.ts';
import type { LastingChanges, StartRequest, StoredFacts } from './inputs/start-facts.ts';
import { factsAtStart } from './views/deployment-facts.ts';

function valuesOf(variables: readonly JobVariable[]): Record<string, string> {
  return Object.assign(Object.create(null), ...variables.map(({ name, value }) => ({ [name]: value })));
}

/** Changes of a request to later runs too. */
interface RequestedChanges {
  readonly changes: LastingChanges;
  /** The changes wait for the approval of the plan. */
  readonly isProposal: boolean;
}

/** The values that the run gets, sealed, what readers see of them, and the sets that they come from. */
async function inputsOf(
  context: ActorContext,
  facts: StoredFacts,
  request: StartRequest,
  { changes, isProposal }: RequestedChanges,
  { id, templateId }: { readonly id: string; readonly templateId: string },
) {
  const { environment, hierarchy, lastDeploy } = facts;
  const current = isProposal
    ? await resolvedOf(context, await contentsWithProposed(context, facts, changes, id))
    : await resolveVariables(context, levelsOf(environmentHome(environment, hierarchy)));
  const isDeployAhead = facts.open.some(({ type }) => type === 'deploy');
  const resolved =
    request.type === 'destroy'
      ? await withLastVariables(context, lastDeploy, current, isDeployAhead)
      : current;
  const [unusable] = resolved.unusable;
  // An environment can be destroyed whatever happened to its variables.
  if (unusable !== undefined && request.type !== 'destroy') throw new Refusal('bad_request', unusable);
  const refusal =
    toolFacts(facts.template.type)?.environmentRefusal?.(valuesOf(resolved.environment)) ?? null;
  if (refusal !== null && request.type !== 'destroy') throw new Refusal('bad_request', refusal);
  const custom = splitCustomVariables(request.customEnvironmentVariables ?? {});
  const wanted = changes.settingsChange?.requested.userRequiresApproval;
  const approval = await approvalOfRun(context, facts, wanted, resolved.approval, templateId);
  const columns = {
    ...approvalColumns(approval),
    custom_environment_variables: JSON.stringify(custom.shown),
    variables: JSON.stringify(resolved.rows),
    sealed_inputs: sealInputs(context, id, {
      environment: resolved.environment,
      terraform: resolved.terraform,
      ...(resolved.references.length === 0 ? {} : { references: resolved.references }),
      custom: custom.secret,
      ...(request.taskPayload === undefined ? {} : { taskPayload: request.taskPayload }),
      ...(request.imports === undefined ? {} : { imports: request.imports }),
      ...(isProposal ? { proposed: proposedOf(changes) } : {}),
    }),
  };
  return { columns, variables: resolved.rows, setIds: resolved.setIds };
}

/** Source of the code of the run. */
function sourceColumns({ environment, template, policy }: StoredFacts, request: StartRequest) {
  const isWithNewCode = policy.forceCheckoutOnTtlDestroy && request.trigger === 'ttl';
  const code = templateColumns(template);
  const { terragrunt_working_directory: workingDirectory } = environment;
  const today = { ...template.settings, ...(workingDirectory ? { workingDirectory } : {}) };
  const { runSettings: settings = runSettings(code.tool, today) } = request;
  return {
    ...code,
    repository: request.repository ?? code.repository,
    revision: request.sourceId ? '' : (request.revision ?? code.revision),
    path: request.path ?? code.path,
    run_settings: settings && JSON.stringify(settings),
    source_id: request.sourceId ?? null,
    commit_to_run: request.commit ?? null,
    follows_last_deploy: (request.followsLastDeploy ?? false) && !isWithNewCode,
  };
}

function requestColumns({ actor }: ActorContext, request: StartRequest) {
  const { gitUserData } = request;
  return {
    type: request.type,
    started_by: actor.userId,
    requested_by: request.requestedBy ?? null,
    trigger: request.trigger,
    is_scheduled_run: request.isScheduledRun ?? false,
    comment: request.comment ?? null,
    caused_by: request.causedBy ?? null,
    upstream_environment_id: request.upstreamEnvironmentId ?? null,
    drift_remediation: request.driftRemediation ?? null,
    skip_state_refresh: request.skipStateRefresh ?? false,
    targets: [...request.targets],
    git_user_data: gitUserData ? JSON.stringify(gitUserData) : null,
  };
}

export interface NewDeployment {
  /** With what decides about the environment. */
  readonly row: Insertable<DeploymentTable> &
    SpeakerRow &
    Pick<DeploymentRow, 'tool' | 'queued_at' | 'has_policies'>;
  /** Configuration sets that it runs with. */
  readonly setIds: readonly string[];
  /** Readers' form of its variables. */
  readonly variables: readonly DeploymentVariable[];
}

/** Whether approval policies decide; known for the template of the environment, but another one may run. */
async function hasPolicies(
  db: Connection,
  { environment, storedTemplate, hasPolicies: isKnown }: StoredFacts,
  type: DeploymentType,
  templateId: string,
): Promise<boolean> {
  if (!policyCheckedTypes.includes(type)) return false;
  if (templateId === storedTemplate.id) return isKnown;
  return (await policiesFor(db, { projectId: environment.project_id, templateId })).length > 0;
}

/**
 * @param facts as the request leaves them
 * @throws Refusal 400 where its variables cannot be used
 */
export async function newDeployment(
  context: ActorContext,
  facts: StoredFacts,
  request: StartRequest,
  { kind, ...requested }: Pick<StartDecision, 'kind'> & RequestedChanges,
): Promise<NewDeployment> {
  const { environment, lastDeploy } = facts;
  const now = context.now();
  const id = context.newId();
  const isQueued = kind === 'queue' || kind === 'skip';
  const source = sourceColumns(facts, request);
  const ofLast = kind === 'start' ? lastDeployColumns(source, lastDeploy) : {};
  const code = { ...source, ...ofLast };
  const kept = {
    id,
    type: request.type,
    started_by: context.actor.userId,
    git_user_data: request.gitUserData ?? null,
    repository: source.repository,
  };
  const [inputs, stored] = await Promise.all([
    inputsOf(context, facts, request, requested, { id, templateId: code.template_id }),
    factsAtStart(context, kept, facts),
  ]);
  const row: NewDeployment['row'] = {
    id,
    environment_id: environment.id,
    organization_id: environment.organization_id,
    project_id: environment.project_id,
    status: isQueued ? 'QUEUED' : 'IN_PROGRESS',
    queued_at: now,
    started_at: isQueued ? null : now,
    updated_at: now,
    ...requestColumns(context, request),
    ...code,
    ...inputs.columns,
    facts: JSON.stringify(stored),
    estimates_costs: facts.policy.includeCostEstimation && canEstimateCosts(code.tool, request.type),
    has_policies: await hasPolicies(context.db, facts, request.type, code.template_id),
  };
  return { row, setIds: inputs.setIds, variables: inputs.variables };
}
