/** Actions that an environment permits now, or the reasons why not, as sentences. Pure. */
import type { Deployment } from '#contract/deployments/shapes.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import { type EnvironmentAction, environmentAccepts, isTerminal } from '#contract/life-cycle/life-cycle.ts';
import type { Policy } from '#contract/project-policies/shapes.ts';
import type { Rights } from '../../../api/rights.ts';

/** Status, lock and archive mark are enough to know what can be started. */
export type Startable = Pick<Environment, 'status' | 'isLocked' | 'isArchived' | 'lockStatus'>;

function lifeCycleWhyNot(environment: Startable, action: EnvironmentAction): string | undefined {
  const { status, isLocked, isArchived, lockStatus } = environment;
  if (isLocked) {
    const reason = lockStatus?.reason ? ` (${lockStatus.reason})` : '';
    return `The environment is locked${reason}. Unlock it first.`;
  }
  if (environmentAccepts({ status, isLocked, isArchived }, action)) return undefined;
  if (isArchived) return 'The environment is archived. Restore it first.';
  if (action === 'destroy' && status === 'DESTROY_IN_PROGRESS') return 'It is being destroyed already.';
  return 'Nothing is deployed, so there is nothing to do this with. Deploy it first.';
}

/** Why a person cannot start something now; undefined: the person can. */
export function whyNotStart(
  environment: Startable,
  action: EnvironmentAction,
  rights: Pick<Rights, 'whyNot'>,
): string | undefined {
  return (
    rights.whyNot('RUN_PLAN') ??
    (action === 'task' ? rights.whyNot('RUN_TASK') : undefined) ??
    lifeCycleWhyNot(environment, action)
  );
}

export const noDestroys = 'the policy of the project does not allow its environments to be destroyed.';

/** Why a person cannot destroy it now; undefined: the person can. @param policy of the project, as far as it is read */
export function whyNotDestroy(
  environment: Startable,
  rights: Pick<Rights, 'whyNot'>,
  policy: Pick<Policy, 'disableDestroyEnvironments'> | undefined,
): string | undefined {
  const isDisabled = policy?.disableDestroyEnvironments ?? false;
  return (
    whyNotStart(environment, 'destroy', rights) ??
    (isDisabled ? `It cannot be destroyed: ${noDestroys}` : undefined)
  );
}

/** Whether a deployment holds the environment or waits for its turn. */
export function isOpen(deployment: Pick<Deployment, 'status'> | null | undefined): boolean {
  return deployment != null && !isTerminal(deployment.status);
}

/** Why it cannot be archived now; undefined: it can. */
export function whyNotArchive(environment: Environment, rights: Pick<Rights, 'whyNot'>): string | undefined {
  const { latestDeploymentLog: latest } = environment;
  return (
    rights.whyNot('ARCHIVE_ENVIRONMENT') ??
    rights.whyNot('EDIT_ENVIRONMENT_SETTINGS') ??
    (latest?.status === 'IN_PROGRESS' || latest?.status === 'ABORTING'
      ? 'A deployment is running. Abort it or wait for its end.'
      : undefined)
  );
}

/** Why it cannot be deleted now, as far as this page can know; undefined: the service decides. */
export function whyNotDelete(environment: Environment, rights: Pick<Rights, 'whyNot'>): string | undefined {
  const { latestDeploymentLog: latest, isLocked, status } = environment;
  const missing = rights.whyNot('ARCHIVE_ENVIRONMENT');
  if (missing !== undefined) return missing;
  if (isLocked) return 'The environment is locked. Unlock it first.';
  if (isOpen(latest)) return 'A deployment is open. Cancel it or wait for its end.';
  if (status === 'ACTIVE' || status === 'DRIFTED') return 'It has resources. Destroy it, then archive it.';
  return undefined;
}

/** Why it cannot be moved now; undefined: it can. */
export function whyNotMove(environment: Environment, rights: Pick<Rights, 'whyNot'>): string | undefined {
  if (isOpen(environment.latestDeploymentLog)) return 'A deployment is open. Cancel it or wait for its end.';
  return rights.whyNot('MOVE_ENVIRONMENTS');
}
