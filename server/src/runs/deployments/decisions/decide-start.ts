/** Whether a deployment may be made, and how it begins. Pure: facts in, decision out. */

import {
  type EnvironmentAction,
  environmentAccepts,
  environmentActions,
} from '#contract/life-cycle/life-cycle.ts';
import type { DeploymentType, EnvironmentStatus } from '#contract/schema/enumerations.ts';
import type { ErrorCode } from '#contract/schema/errors.ts';
import { isRunnable, runnableTools } from '#protocol/tools/index.ts';
import { runnableDeploymentTypes } from '#protocol/tools/steps.ts';
import { isSerial, type QueuedFacts, waitsFor } from '../../queue/queue-order.ts';

export interface StartFacts {
  readonly type: DeploymentType;
  readonly tool: string;
  readonly environment: {
    readonly name: string;
    readonly status: EnvironmentStatus;
    /** The status while nothing is under way. */
    readonly restingStatus: EnvironmentStatus;
    readonly isLocked: boolean;
    readonly lockReason: string | null;
    readonly isArchived: boolean;
  };
  /** Queued and active deployments of the environment, in the order of the queue. */
  readonly open: readonly QueuedFacts[];
  /** Name of the project where it is archived. */
  readonly archivedProject?: string | null;
  /** Something may exist that a destroy has to remove. */
  readonly mayHaveResources: boolean;
  /** A tool outside of runs holds the state. */
  readonly isStateLocked?: boolean;
  /**
   * The state of ours lists resources, whatever was deployed: it was imported, rolled back, or written by a
   * tool outside of runs.
   */
  readonly recordsResources?: boolean;
  /** A deployment has applied something: what a task works on. */
  readonly hasLastDeploy: boolean;
  /** The policy of the project does not allow its environments to be destroyed. */
  readonly isDestroyDisabled?: boolean;
}

export type StartDecision =
  | { readonly kind: 'refuse'; readonly code: ErrorCode; readonly message: string }
  | { readonly kind: 'start' }
  /** `behind`: the deployment that is ahead; null: a tool outside of runs holds the state. */
  | { readonly kind: 'queue'; readonly behind: string | null }
  /** A destroy with nothing to destroy ends well at once, without its tool. */
  | { readonly kind: 'nothing-to-destroy' }
  /** Its type is stored only: it is skipped at once. */
  | { readonly kind: 'skip' };

function refuse(code: ErrorCode, message: string): StartDecision {
  return { kind: 'refuse', code, message };
}

function refusalOfDestroy({
  environment,
  open,
  recordsResources,
  isDestroyDisabled,
}: StartFacts): StartDecision | null {
  if (open.some((each) => each.type === 'destroy'))
    return refuse('bad_request', `Environment "${environment.name}" is already being destroyed`);
  const isUntouched = open.length === 0 && !recordsResources;
  if (isUntouched && environment.status === 'NEVER_DEPLOYED')
    return refuse(
      'bad_request',
      `Environment "${environment.name}" was never deployed: there is nothing to destroy. To remove it, delete or archive it`,
    );
  // A client takes 400 for "there is nothing": what is recorded must not be lost by that.
  if (open.length === 0 && environment.isArchived)
    return refuse(
      recordsResources ? 'conflict' : 'bad_request',
      `Environment "${environment.name}" is archived, which makes it inactive: set isArchived to false before destroying it`,
    );
  if (isUntouched && environment.status === 'INACTIVE')
    return refuse(
      'bad_request',
      `Environment "${environment.name}" is inactive: there is nothing to destroy. To remove it from lists, archive it`,
    );
  // Last: a client takes 400 for "there is nothing", wherever that is so.
  if (isDestroyDisabled)
    return refuse(
      'conflict',
      `Environment "${environment.name}" cannot be destroyed: the policy of its project disables it (disableDestroyEnvironments). Archive the environment, or change the policy first`,
    );
  return null;
}

/** @returns why a task cannot run now; null where it can */
export function taskRefusal({
  environment,
  hasLastDeploy,
}: {
  readonly environment: Pick<StartFacts['environment'], 'name' | 'restingStatus'>;
  readonly hasLastDeploy: boolean;
}): string | null {
  const { name, restingStatus } = environment;
  if (restingStatus === 'INACTIVE')
    return `Environment "${name}" is inactive: tasks need deployed infrastructure; deploy it first`;
  if (hasLastDeploy) return null;
  return `Environment "${name}" has no deployment that applied anything: a task runs at the commit of the last one; deploy it first`;
}

/** Status that a type of deployment requires of an environment, as the table of the life cycle calls it. */
function actionOf(type: DeploymentType): EnvironmentAction {
  return environmentActions.find((action) => action === type) ?? 'plan';
}

function refusal(facts: StartFacts): StartDecision | null {
  const { environment, type, tool } = facts;
  // With nothing to destroy, no tool is needed.
  const needsTool = type !== 'destroy' || facts.mayHaveResources || facts.open.length > 0;
  if (needsTool && !isRunnable(tool)) {
    return refuse(
      'bad_request',
      `/type ${tool} cannot be run by this version: it runs ${runnableTools.join(', ')}`,
    );
  }
  if (environment.isLocked) {
    const reason = environment.lockReason ? ` (${environment.lockReason})` : '';
    return refuse('conflict', `Environment "${environment.name}" is locked${reason}: unlock it first`);
  }
  if (type === 'destroy') return refusalOfDestroy(facts);
  if (facts.archivedProject)
    return refuse(
      'conflict',
      `Project "${facts.archivedProject}" is archived, its environments accept only a destroy: restore the project first`,
    );
  if (environmentAccepts(environment, actionOf(type))) return null;
  if (environment.isArchived)
    return refuse(
      'conflict',
      `Environment "${environment.name}" is archived: deploy it, or set isArchived to false first`,
    );
  return refuse(
    'conflict',
    `Environment "${environment.name}" is ${environment.status}: there is nothing for a ${type} to check; deploy it first`,
  );
}

export function decideStart(facts: StartFacts): StartDecision {
  const refused = refusal(facts);
  if (refused) return refused;
  if (!(runnableDeploymentTypes as readonly string[]).includes(facts.type)) return { kind: 'skip' };
  const ahead = waitsFor({ id: '', type: facts.type }, facts.open);
  if (ahead) return { kind: 'queue', behind: ahead.id };
  if (facts.isStateLocked && isSerial(facts.type)) return { kind: 'queue', behind: null };
  if (facts.type === 'destroy' && !facts.mayHaveResources) return { kind: 'nothing-to-destroy' };
  const refusedTask = facts.type === 'task' ? taskRefusal(facts) : null;
  return refusedTask === null ? { kind: 'start' } : refuse('conflict', refusedTask);
}
