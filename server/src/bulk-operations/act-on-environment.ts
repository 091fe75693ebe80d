/** What a bulk operation does to one of its environments: the verb of the single operation, and its right. */
import type { BulkData } from '#contract/bulk-operations/operations.ts';
import type { BulkKind } from '#contract/bulk-operations/shapes.ts';
import type { Right } from '#contract/schema/enumerations.ts';
import { inEnvironment } from '../access/access.ts';
import { requireRight } from '../access/check-right.ts';
import type { ActorContext } from '../context.ts';
import { approveDeployment } from '../deployments/approval/approve-deployment.ts';
import { cancelDeployment, cancelQueuedDeployments } from '../deployments/cancel-deployment.ts';
import { openDeployments } from '../deployments/deployment-store.ts';
import { deployEnvironment, destroyEnvironment } from '../deployments/start-deployment.ts';
import { type EnvironmentRow, requireEnvironment } from '../environments/environment-store.ts';
import { setEnvironmentLock } from '../environments/set-environment-lock.ts';
import { updateEnvironment } from '../environments/update-environment.ts';
import { conflict } from '../http/errors.ts';

/** The id of the deployment that it was about; nothing where it was about none. */
type Result = { readonly id: string } | null;

interface BulkVerb {
  readonly rights: readonly Right[];
  act(context: ActorContext, environment: EnvironmentRow, data: BulkData): Promise<Result>;
}

/** @throws Refusal 409 where none waits */
async function waitingDeployment({ db }: ActorContext, { id, name }: EnvironmentRow): Promise<string> {
  const waiting = (await openDeployments(db, id)).find(({ status }) => status === 'WAITING_FOR_USER');
  if (!waiting) throw conflict(`Environment "${name}" has no deployment that waits for approval`);
  return waiting.id;
}

const verbs: Readonly<Record<BulkKind, BulkVerb>> = {
  deploy: {
    rights: ['RUN_PLAN'],
    act: (context, { id }, { userRequiresApproval, comment }) =>
      deployEnvironment(context, id, { userRequiresApproval, comment }),
  },
  destroy: {
    rights: ['RUN_PLAN'],
    act: (context, { id }, { skipStateRefresh, comment }) =>
      destroyEnvironment(context, id, {
        ...(skipStateRefresh === undefined ? {} : { skipStateRefresh }),
        ...(comment === undefined ? {} : { comment }),
      }),
  },
  'run-task': {
    rights: ['RUN_TASK'],
    act: (context, { id }, { taskPayload, comment }) =>
      deployEnvironment(context, id, { deploymentType: 'task', taskPayload, comment }),
  },
  approve: {
    rights: ['RUN_APPLY'],
    act: async (context, environment) =>
      approveDeployment(context, await waitingDeployment(context, environment), {}),
  },
  cancel: {
    rights: ['RUN_PLAN'],
    act: async (context, environment) =>
      cancelDeployment(context, await waitingDeployment(context, environment)),
  },
  'cancel-queued-deployments': {
    rights: ['RUN_PLAN'],
    act: async (context, { id }) => {
      await cancelQueuedDeployments(context, id);
      return null;
    },
  },
  lock: {
    rights: ['MANAGE_ENVIRONMENT_LOCK'],
    act: async (context, { id }, { reason }) => {
      await setEnvironmentLock(context, id, { isLocked: true, ...(reason === undefined ? {} : { reason }) });
      return null;
    },
  },
  unlock: {
    rights: ['MANAGE_ENVIRONMENT_LOCK'],
    act: async (context, { id }) => {
      await setEnvironmentLock(context, id, { isLocked: false });
      return null;
    },
  },
  archive: {
    rights: ['ARCHIVE_ENVIRONMENT', 'EDIT_ENVIRONMENT_SETTINGS'],
    act: async (context, { id }) => {
      await updateEnvironment(context, id, { isArchived: true });
      return null;
    },
  },
};

/**
 * Does to one environment what the operation says, in the transaction of the context.
 * @returns the id of the deployment that it was about, if any
 * @throws Refusal as the single operation does, 403 without its right in this environment included
 */
export async function actOnEnvironment(
  context: ActorContext,
  kind: BulkKind,
  environmentId: string,
  data: BulkData,
): Promise<string | null> {
  const { rights, act } = verbs[kind];
  const environment = await requireEnvironment(context, environmentId);
  for (const right of rights) requireRight(context.actor, inEnvironment(environment), right, 'This');
  return (await act(context, environment, data))?.id ?? null;
}
