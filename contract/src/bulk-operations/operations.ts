/** The same operation on several environments: each as if it had been requested alone. */
import { type Static, type TProperties, Type } from 'typebox';
import { taskPayloadLimit } from '../deployments/deploy-request.ts';
import { defineOperations, operation } from '../operation.ts';
import type { Right } from '../schema/enumerations.ts';
import { closed, Flag, Name, orNull, Prose } from '../schema/schema.ts';
import { type BulkKind, BulkOperation, mostBulkItems } from './shapes.ts';

const common = {
  environmentIds: Type.Array(Name, {
    minItems: 1,
    maxItems: mostBulkItems,
    description: 'Carried out in this order, one after the other; an id that is repeated counts once',
  }),
  organizationId: Name,
};

const comment = Type.Optional(Prose);

export const BulkBody = closed(common);
export const BulkDeployData = closed({ userRequiresApproval: Type.Optional(Flag), comment });
export const BulkDestroyData = closed({ skipStateRefresh: Type.Optional(Flag), comment });
export const BulkTaskData = closed({
  comment,
  taskPayload: Type.Optional(
    Type.String({
      maxLength: taskPayloadLimit,
      description: 'Shell commands to run in each environment; required',
    }),
  ),
});
export const BulkLockData = closed({ reason: Type.Optional(Prose) });

/** What requests can say about every item. */
export type BulkData = Static<typeof BulkDeployData> &
  Static<typeof BulkDestroyData> &
  Static<typeof BulkTaskData> &
  Static<typeof BulkLockData>;

const waiting =
  'Each environment is handled in a transaction of its own, as its single operation does: with its right there, ' +
  'locks, limits and policies. One that is refused does not affect the others; `error` says why. The reply comes ' +
  'when all are finished, or after 20 seconds at the latest (with an `Idempotency-Key` at once): the service ' +
  'continues with what is `pending`, also if a server is killed, and `getBulkOperation` shows what came of it.';

interface About {
  readonly summary: string;
  readonly description?: string;
  readonly needs: Right;
  readonly needsToo?: readonly { readonly right: Right; readonly for: string }[];
}

function bulk<Body extends TProperties>(kind: BulkKind, body: Body, { description, ...about }: About) {
  return operation('POST', `/bulk-operations/${kind}`, {
    ...about,
    description: description ? `${description} ${waiting}` : waiting,
    needsAnywhere: true,
    subject: { entity: 'organization', in: 'body', field: 'organizationId' },
    body: closed(body),
    reply: BulkOperation,
  });
}

export const operations = defineOperations('bulk operations', {
  bulkDeploy: bulk(
    'deploy',
    { ...common, data: orNull(BulkDeployData) },
    {
      summary: 'Deploy environments',
      needs: 'RUN_PLAN',
      needsToo: [
        { right: 'RUN_PLAN', for: 'each environment' },
        { right: 'RUN_APPLY', for: '`data.userRequiresApproval` false, in each environment' },
      ],
    },
  ),
  bulkDestroy: bulk(
    'destroy',
    { ...common, data: orNull(BulkDestroyData) },
    {
      summary: 'Destroy environments',
      needs: 'RUN_PLAN',
      needsToo: [{ right: 'RUN_PLAN', for: 'each environment' }],
    },
  ),
  bulkRunTask: bulk(
    'run-task',
    { ...common, data: orNull(BulkTaskData) },
    {
      summary: 'Run a task in environments',
      needs: 'RUN_TASK',
      needsToo: [{ right: 'RUN_TASK', for: 'each environment' }],
    },
  ),
  bulkApprove: bulk('approve', common, {
    summary: 'Approve plans of environments',
    description: 'Approves the deployment of each environment that waits for approval.',
    needs: 'RUN_APPLY',
    needsToo: [{ right: 'RUN_APPLY', for: 'each environment' }],
  }),
  bulkCancel: bulk('cancel', common, {
    summary: 'Cancel plans of environments',
    description: 'Cancels the deployment of each environment that waits for approval.',
    needs: 'RUN_PLAN',
    needsToo: [{ right: 'RUN_PLAN', for: 'each environment' }],
  }),
  bulkCancelQueued: bulk('cancel-queued-deployments', common, {
    summary: 'Cancel all queued deployments of environments',
    needs: 'RUN_PLAN',
    needsToo: [{ right: 'RUN_PLAN', for: 'each environment' }],
  }),
  bulkLock: bulk(
    'lock',
    { ...common, data: orNull(BulkLockData) },
    {
      summary: 'Lock environments',
      needs: 'MANAGE_ENVIRONMENT_LOCK',
      needsToo: [{ right: 'MANAGE_ENVIRONMENT_LOCK', for: 'each environment' }],
    },
  ),
  bulkUnlock: bulk('unlock', common, {
    summary: 'Unlock environments',
    needs: 'MANAGE_ENVIRONMENT_LOCK',
    needsToo: [{ right: 'MANAGE_ENVIRONMENT_LOCK', for: 'each environment' }],
  }),
  bulkArchive: bulk('archive', common, {
    summary: 'Archive environments',
    description: 'Marks environments inactive without destroying anything.',
    needs: 'ARCHIVE_ENVIRONMENT',
    needsToo: [
      { right: 'ARCHIVE_ENVIRONMENT', for: 'each environment' },
      { right: 'EDIT_ENVIRONMENT_SETTINGS', for: 'each environment' },
    ],
  }),
  getBulkOperation: operation('GET', '/bulk-operations/{id}', {
    summary: 'Get bulk operation',
    description:
      'What came of each environment. Others than its author see the environments that they may view. Kept for 30 days.',
    needs: 'VIEW_ENVIRONMENT',
    needsAnywhere: true,
    needsToo: [{ right: 'VIEW_ENVIRONMENT', for: 'each environment that is shown to others' }],
    subject: { entity: 'bulkOperation', in: 'params', field: 'id' },
    params: Type.Object({ id: Name }),
    reply: BulkOperation,
  }),
});
