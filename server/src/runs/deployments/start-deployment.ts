/** Refuses, queues or starts a deployment in the caller's transaction: each fact is read once, each row written once. */

import type { Updateable } from 'kysely';
import type { WaitingFor } from '#contract/deployments/plan.ts';
import type { DeploymentType } from '#contract/schema/enumerations.ts';
import { noEffects } from '#contract/schema/no-effect-words.ts';
import { deploymentSteps, isRunnable } from '#protocol/tools/index.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { awaitFields } from '../../ground/await-fields.ts';
import { Refusal } from '../../ground/errors.ts';
import { insertAssignments } from '../../rows/configuration-sets/configuration-set-store.ts';
import { insertDeployment, type LockedDeployment } from '../../rows/deployments/deployment-store.ts';
import { isIdle } from '../../rows/environments/environment-store.ts';
import { insertSteps } from '../../rows/logs/step-store.ts';
import type { EnvironmentTable } from '../../rows/schema.ts';
import { checkEnvironmentLimits } from '../../tenancy/project-policies/environment-limits.ts';
import { enqueueJob } from '../queue/enqueue.ts';
import { decideStart, type StartDecision } from './decisions/decide-start.ts';
import { changedColumns, changeForGood, factsAfter } from './inputs/change-for-good.ts';
import { isProposing } from './inputs/proposed-changes.ts';
import { noChanges, type StartRequest, type StoredFacts } from './inputs/start-facts.ts';
import { type NewDeployment, newDeployment } from './new-deployment.ts';
import { planJob } from './transitions/advance-queue.ts';
import { endIdleDestroy, moveDeployment, refreshEnvironment } from './transitions/move-deployment.ts';
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

/** A deploy of an environment without resources makes it one more of its project. */
function isActivation({ environment, open }: StoredFacts, type: DeploymentType): boolean {
  return type === 'deploy' && isIdle(environment) && !open.some((each) => each.type === 'deploy');
}

const notRun = `The deployment did not run: ${noEffects.tests}`;

/** Ends what does not run. @returns `made` itself where it runs */
async function endAtOnce(
  context: ActorContext,
  made: LockedDeployment,
  kind: StartDecision['kind'],
): Promise<LockedDeployment> {
  if (kind === 'nothing-to-destroy') return endIdleDestroy(context, made);
  if (kind !== 'skip') return made;
  return moveDeployment(context, made, 'SKIPPED', { error: JSON.stringify({ message: notRun }) });
}

export interface DeploymentStart extends LockedDeployment, Pick<NewDeployment, 'variables'> {
  readonly waiting: WaitingFor | null;
}

/** Writes the deployment with its steps, sets and first job. @param changes columns of the environment that change */
async function store(
  context: ActorContext,
  facts: StoredFacts,
  { row, setIds }: NewDeployment,
  kind: StartDecision['kind'],
  changes: Updateable<EnvironmentTable>,
) {
  // A destroy with nothing to destroy needs no tool, and none that this version can run.
  const { tool, type } = row;
  const extra = { estimatesCosts: row.estimates_costs === true, hasPolicies: row.has_policies };
  const steps = kind !== 'skip' && isRunnable(tool) ? deploymentSteps(tool, type, extra) : [];
  const open = [...facts.open, row];
  const by = { userId: row.started_by, at: context.now() };
  const job = kind === 'start' ? planJob(context, row) : null;
  const { deployment, environment, waiting } = await awaitFields({
    deployment: insertDeployment(context.db, row),
    environment: refreshEnvironment(context, facts.environment, changes, { open }),
    steps: insertSteps(context.db, row.id, steps, context.newId),
    sets: insertAssignments(context.db, { scope: 'deployment', scopeId: row.id }, setIds, by),
    job: job && enqueueJob(context, job),
    waiting: waitingAtStart(context, row, { ...facts, open, job }),
  });
  return { deployment, environment, waiting };
}

/**
 * The caller has checked the right.
 * @param before the facts before the request is carried out
 * @param changes what the request changes for later runs too
 * @returns the deployment, IN_PROGRESS, QUEUED, or already ended where there was nothing to destroy
 * @throws Refusal before the first write of a deployment that may not be made
 */
export async function startDeployment(
  context: ActorContext,
  before: StoredFacts,
  request: StartRequest,
  changes = noChanges,
): Promise<DeploymentStart> {
  const facts = factsAfter(before, changes);
  const decision = decide({ ...before, template: facts.template }, request.type);
  if (decision.kind === 'refuse') throw new Refusal(decision.code, decision.message);
  if (isActivation(before, request.type))
    await checkEnvironmentLimits(context, before.environment, before.environment.project_id, before.policy);
  const isProposal = isProposing(context, before, changes);
  if (!isProposal) await changeForGood(context, before, changes);
  const { kind } = decision;
  const made = await newDeployment(context, facts, request, { kind, changes, isProposal });
  // A deployment restores an archived environment.
  const restored = before.environment.is_archived ? { is_archived: false } : {};
  const columns = { ...(isProposal ? {} : changedColumns(changes)), ...restored };
  const { waiting, ...stored } = await store(context, facts, made, kind, columns);
  const { deployment, environment } = stored;
  await context.react('deploymentMoved', { deployment, environment, from: null, waiting });
  const ended = await endAtOnce(context, stored, kind);
  await recordAudit(context, {
    organizationId: environment.organization_id,
    projectId: environment.project_id,
    action: 'deployment.started',
    entityId: deployment.id,
    details: {
      type: request.type,
      environmentId: environment.id,
      trigger: request.trigger,
      ...(request.causedBy === undefined ? {} : { causedBy: request.causedBy }),
      ...(request.imports === undefined ? {} : { imports: [...request.imports] }),
    },
  });
  return { ...ended, variables: made.variables, waiting: ended === stored ? waiting : null };
}
