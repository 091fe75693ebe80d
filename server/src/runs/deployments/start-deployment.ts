/** Refuses, queues or starts a deployment in one transaction: each fact is read once, each row written once. */

import type { Insertable } from 'kysely';
import { type DeployBody, normalizeDeployRequest } from '#contract/deployments/deploy-request.ts';
import type { WaitingFor } from '#contract/deployments/plan.ts';
import type { Deployment } from '#contract/deployments/shapes.ts';
import type { DeploymentType } from '#contract/schema/enumerations.ts';
import { noEffects } from '#contract/schema/no-effect-words.ts';
import type { DeploymentVariable } from '#contract/variables/shapes.ts';
import type { JobVariable } from '#protocol/messages/job.ts';
import { canEstimateCosts, deploymentSteps, isRunnable, toolFacts } from '#protocol/tools/index.ts';
import { runSettings } from '#protocol/tools/run-settings.ts';
import { policyCheckedTypes } from '#protocol/tools/steps.ts';
import { templateColumns } from '../../code/templates/environment-template.ts';
import { requireEnvironment } from '../../framework/access/lock-or-refuse.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { Refusal } from '../../ground/errors.ts';
import { environmentHome, levelsOf } from '../../inputs/variables/levels.ts';
import { resolvedOf, resolveVariables } from '../../inputs/variables/resolve-variables.ts';
import { insertAssignments } from '../../rows/configuration-sets/configuration-set-store.ts';
import { policiesFor } from '../../rows/custom-flows/assignment-store.ts';
import {
  type DeploymentRow,
  insertDeployment,
  type LockedDeployment,
  type SpeakerRow,
} from '../../rows/deployments/deployment-store.ts';
import { isIdle, type LockedEnvironment } from '../../rows/environments/environment-store.ts';
import { insertSteps } from '../../rows/logs/step-store.ts';
import type { DeploymentTable } from '../../rows/schema.ts';
import { checkEnvironmentLimits } from '../../tenancy/project-policies/environment-limits.ts';
import { enqueueJob } from '../queue/enqueue.ts';
import { approvalOfRun } from './approval/approval-at-start.ts';
import { decideStart, type StartDecision } from './decisions/decide-start.ts';
import { changedColumns, changeForGood, factsAfter } from './inputs/change-for-good.ts';
import { lastDeployColumns, withLastVariables } from './inputs/last-deploy.ts';
import { contentsWithProposed, isProposing, proposedOf } from './inputs/proposed-changes.ts';
import { sealInputs, splitCustomVariables } from './inputs/run-inputs.ts';
import { loadStartFacts, type StartRequest, type StoredFacts } from './inputs/start-facts.ts';
import {
  type DestroyRequest,
  readDeployRequest,
  readDestroyRequest,
} from './requests/read-deploy-request.ts';
import { planJob } from './transitions/advance-queue.ts';
import { endIdleDestroy, moveDeployment, refreshEnvironment } from './transitions/move-deployment.ts';
import { factsAtStart } from './views/deployment-facts.ts';
import { startedView } from './views/deployment-view.ts';
import { waitingAtStart } from './views/waiting-for.ts';

function decide({ environment, open, ...facts }: StoredFacts, type: DeploymentType): StartDecision {
  return decideStart({
    type,
    tool: facts.template.type,
    environment: {
      name: environment.name,
      status: environment.status,
      restingStatus: environment.resting_status,
      isLocked: environment.is_locked,
      lockReason: environment.lock_reason,
      isArchived: environment.is_archived,
    },
    archivedProject: facts.archivedProject,
    open: open.map((row) => ({ id: row.id, type: row.type, status: row.status })),
    mayHaveResources: facts.resources.mayExist,
    isStateLocked: facts.stateLock !== undefined,
    recordsResources: facts.resources.areRecorded,
    hasLastDeploy: facts.lastDeploy !== undefined,
    isDestroyDisabled: facts.policy.disableDestroyEnvironments,
  });
}

function valuesOf(variables: readonly JobVariable[]): Record<string, string> {
  return Object.assign(Object.create(null), ...variables.map(({ name, value }) => ({ [name]: value })));
}

/** The values that the run gets, sealed, what readers see of them, and the sets that they come from. */
async function inputsOf(
  context: ActorContext,
  before: StoredFacts,
  facts: StoredFacts,
  request: StartRequest,
  { id, templateId }: { readonly id: string; readonly templateId: string },
) {
  const { environment, hierarchy, lastDeploy } = facts;
  const isProposal = isProposing(context, facts, request);
  const current = isProposal
    ? await resolvedOf(context, await contentsWithProposed(context, facts, request, id))
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
  const approval = await approvalOfRun(context, before, facts, request, resolved.approval, templateId);
  const columns = {
    requires_approval: approval.isRequired,
    approval_decided_by: approval.decidedBy,
    approval_at_start: JSON.stringify(approval),
    custom_environment_variables: JSON.stringify(custom.shown),
    variables: JSON.stringify(resolved.rows),
    sealed_inputs: sealInputs(context, id, {
      environment: resolved.environment,
      terraform: resolved.terraform,
      ...(resolved.references.length === 0 ? {} : { references: resolved.references }),
      custom: custom.secret,
      ...(request.taskPayload === undefined ? {} : { taskPayload: request.taskPayload }),
      ...(request.imports === undefined ? {} : { imports: request.imports }),
      ...(isProposal ? { proposed: proposedOf(request) } : {}),
    }),
  };
  return { columns, variables: resolved.rows, setIds: resolved.setIds };
}

/** Where the code of the run comes from. */
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

const notRun = `The deployment did not run: ${noEffects.tests}`;

interface NewDeployment {
  /** With what decides about the environment. */
  readonly row: Insertable<DeploymentTable> &
    SpeakerRow &
    Pick<DeploymentRow, 'tool' | 'queued_at' | 'has_policies'>;
  /** Configuration sets that it runs with. */
  readonly setIds: readonly string[];
  /** What readers see of its variables. */
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

async function newDeployment(
  context: ActorContext,
  before: StoredFacts,
  facts: StoredFacts,
  request: StartRequest,
  decision: StartDecision,
): Promise<NewDeployment> {
  const { environment, lastDeploy } = facts;
  const now = context.now();
  const id = context.newId();
  const isQueued = decision.kind === 'queue' || decision.kind === 'skip';
  const source = sourceColumns(facts, request);
  const ofLast = decision.kind === 'start' ? lastDeployColumns(source, lastDeploy) : {};
  const code = { ...source, ...ofLast };
  const kept = {
    id,
    type: request.type,
    started_by: context.actor.userId,
    git_user_data: request.gitUserData ?? null,
    repository: source.repository,
  };
  const [inputs, stored] = await Promise.all([
    inputsOf(context, before, facts, request, { id, templateId: code.template_id }),
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

/** A deploy of an environment of which nothing stands makes it one more of its project. */
function isActivation({ environment, open }: StoredFacts, { type }: StartRequest): boolean {
  return type === 'deploy' && isIdle(environment) && !open.some((each) => each.type === 'deploy');
}

/** Ends what does not run. @returns `made` itself where it runs */
async function endAtOnce(
  context: ActorContext,
  made: LockedDeployment,
  { kind }: StartDecision,
): Promise<LockedDeployment> {
  if (kind === 'nothing-to-destroy') return endIdleDestroy(context, made);
  if (kind !== 'skip') return made;
  return moveDeployment(context, made, 'SKIPPED', { error: JSON.stringify({ message: notRun }) });
}

export interface DeploymentStart extends LockedDeployment, Pick<NewDeployment, 'variables'> {
  readonly waiting: WaitingFor | null;
}

/**
 * As `startDeployment`, for a caller that has read the facts.
 * @throws Refusal before the first write of a deployment that may not be made
 */
export async function startFrom(
  context: ActorContext,
  before: StoredFacts,
  request: StartRequest,
): Promise<DeploymentStart> {
  const facts = factsAfter(before, request);
  const decision = decide({ ...before, template: facts.template }, request.type);
  if (decision.kind === 'refuse') throw new Refusal(decision.code, decision.message);
  if (isActivation(before, request))
    await checkEnvironmentLimits(context, before.environment, before.environment.project_id, before.policy);
  const isProposal = isProposing(context, before, request);
  if (!isProposal) await changeForGood(context, before, request);
  const { row, setIds, variables } = await newDeployment(context, before, facts, request, decision);
  // A destroy with nothing to destroy needs no tool, and none that this version can run.
  const { tool } = row;
  const extra = { estimatesCosts: row.estimates_costs === true, hasPolicies: row.has_policies };
  const isRun = decision.kind !== 'skip' && isRunnable(tool);
  const steps = isRun ? deploymentSteps(tool, request.type, extra) : [];
  // A deployment restores an archived environment.
  const restored = before.environment.is_archived ? { is_archived: false } : {};
  const changes = { ...(isProposal ? {} : changedColumns(request)), ...restored };
  const open = [...facts.open, row];
  const by = { userId: row.started_by, at: context.now() };
  const job = decision.kind === 'start' ? planJob(context, row) : null;
  const [deployment, environment, , , , waiting] = await Promise.all([
    insertDeployment(context.db, row),
    refreshEnvironment(context, before.environment, changes, { open }),
    insertSteps(context.db, row.id, steps, context.newId),
    insertAssignments(context.db, { scope: 'deployment', scopeId: row.id }, setIds, by),
    job && enqueueJob(context, job),
    waitingAtStart(context, row, { ...facts, open, job }),
  ]);
  await context.react('deploymentMoved', { deployment, environment, from: null, waiting });
  const made = { deployment, environment };
  const ended = await endAtOnce(context, made, decision);
  await recordAudit(context, {
    organizationId: environment.organization_id,
    projectId: environment.project_id,
    action: 'deployment.started',
    entity: 'deployment',
    entityId: deployment.id,
    details: {
      type: request.type,
      environmentId: environment.id,
      trigger: request.trigger,
      ...(request.causedBy === undefined ? {} : { causedBy: request.causedBy }),
      ...(request.imports === undefined ? {} : { imports: [...request.imports] }),
    },
  });
  return { ...ended, variables, waiting: ended === made ? waiting : null };
}

/**
 * The caller has checked the right.
 * @returns the deployment, IN_PROGRESS, QUEUED, or already ended where there was nothing to destroy
 * @throws Refusal before the first write of a deployment that may not be made
 */
export async function startDeployment(
  context: ActorContext,
  environment: LockedEnvironment,
  request: StartRequest,
): Promise<DeploymentStart> {
  return startFrom(context, await loadStartFacts(context, environment, request.type), request);
}

/** Makes the deployment that a person requests. @throws Refusal before anything is written */
export async function deployEnvironment(
  context: ActorContext,
  environmentId: string,
  body: DeployBody,
): Promise<Deployment & { id: string }> {
  const { deploymentType } = normalizeDeployRequest(body);
  return inTransaction(context, async (context) => {
    const environment = await requireEnvironment(context, environmentId);
    const facts = await loadStartFacts(context, environment, deploymentType);
    const started = await startFrom(context, facts, await readDeployRequest(context, facts, body));
    return startedView(started, facts.users);
  });
}

/** Makes the destroy that a person requests. @throws Refusal before anything is written */
export async function destroyEnvironment(
  context: ActorContext,
  environmentId: string,
  request: DestroyRequest,
): Promise<Deployment & { id: string }> {
  return inTransaction(context, async (context) => {
    const environment = await requireEnvironment(context, environmentId);
    const facts = await loadStartFacts(context, environment, 'destroy');
    const started = await startFrom(context, facts, await readDestroyRequest(context, facts, request));
    return startedView(started, facts.users);
  });
}
