/** The same operation on several environments: each as if it had been requested alone. */
import { type Static, type TProperties, Type } from 'typebox';
import { taskPayloadLimit } from '../deployments/deploy-request.ts';
import { operations as deployments } from '../deployments/operations.ts';
import { operations as environments } from '../environments/operations.ts';
import { aboutOne } from '../schema/by-id.ts';
import { oneOf, type Right } from '../schema/enumerations.ts';
import { defineOperations, type Operation, operation } from '../schema/operation.ts';
import { closed, Flag, Name, orNull, Prose, Text } from '../schema/schema.ts';
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

/** Types of deployments that `bulkDeploy` starts. */
export const bulkDeploymentTypes = ['deploy', 'driftDetection'] as const;

export const BulkDeployData = closed({
  deploymentType: Type.Optional(oneOf(bulkDeploymentTypes, 'Default: deploy')),
  userRequiresApproval: Type.Optional(Flag),
  comment,
});
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
/** Of approvals and cancellations. */
export const BulkDecisionData = closed({
  planHashes: Type.Optional(
    Type.Record(Name, Text, {
      description:
        'By id of an environment, the `planHash` of the plan that is meant: nothing happens to an environment where another one waits',
    }),
  ),
});

/** Fields of requests that apply to every item. */
export type BulkData = Static<typeof BulkDeployData> &
  Static<typeof BulkDestroyData> &
  Static<typeof BulkTaskData> &
  Static<typeof BulkLockData> &
  Static<typeof BulkDecisionData>;

const waiting =
  'Each environment is handled in a transaction of its own, as its single operation does: with its right there, ' +
  'locks, limits and policies. One that is refused does not affect the others; `error` says why. The reply comes ' +
  'when all are finished, or after 20 seconds at the latest (with an `Idempotency-Key` at once): the service ' +
  'continues with what is `pending`, also if a server is killed, and `getBulkOperation` shows the results.';

/** A bulk operation does to each environment what its single operation does, with the rights of that one. */
interface BulkVerb {
  readonly single: Operation;
  /** Whether it always requests the part for which the single operation needs another right instead of its own. */
  readonly isInstead?: true;
  /** Rights for a part of the single operation that the bulk operation always requests. */
  readonly also?: readonly Right[];
}

export const bulkVerbs = {
  deploy: { single: deployments.deployEnvironment },
  destroy: { single: environments.destroyEnvironment },
  'run-task': { single: deployments.deployEnvironment, isInstead: true },
  approve: { single: deployments.approveDeployment },
  cancel: { single: deployments.cancelDeployment },
  'cancel-queued-deployments': { single: deployments.cancelQueuedDeployments },
  lock: { single: environments.setEnvironmentLock },
  unlock: { single: environments.setEnvironmentLock },
  archive: { single: environments.updateEnvironment, also: ['ARCHIVE_ENVIRONMENT'] },
} as const satisfies Readonly<Record<BulkKind, BulkVerb>>;

/** The rights that each item needs in its environment, that of the single operation first. */
export function bulkRights(kind: BulkKind): readonly [Right, ...Right[]] {
  const { single, isInstead, also = [] }: BulkVerb = bulkVerbs[kind];
  return [(isInstead ? single.needsInstead?.right : single.needs) as Right, ...also];
}

interface About {
  readonly summary: string;
  readonly description?: string;
  /** Rights for a part of `data`. */
  readonly needsToo?: readonly { readonly right: Right; readonly for: string }[];
}

function bulk<Body extends TProperties>(
  kind: BulkKind,
  body: Body,
  { summary, description, needsToo = [] }: About,
) {
  const [needs, ...also] = bulkRights(kind);
  return operation('POST', `/bulk-operations/${kind}`, {
    summary,
    description: description ? `${description} ${waiting}` : waiting,
    needs,
    needsAnywhere: true,
    needsToo: [...[needs, ...also].map((right) => ({ right, for: 'each environment' })), ...needsToo],
    subject: { entity: 'organization', in: 'body', field: 'organizationId' },
    body: closed({ ...common, ...body }),
    reply: BulkOperation,
  });
}

const onlyWhatWaits =
  'when the request is accepted; where another plan waits when its turn comes, nothing happens, and `error` says so.';

export const operations = defineOperations('bulk operations', {
  bulkDeploy: bulk(
    'deploy',
    { data: orNull(BulkDeployData) },
    {
      summary: 'Deploy environments',
      needsToo: [
        { right: 'RUN_APPLY', for: '`data.userRequiresApproval` false, in each environment' },
        {
          right: 'EDIT_PROJECT_SETTINGS',
          for: '`data.userRequiresApproval` false where a project demands approvals, there',
        },
      ],
    },
  ),
  bulkDestroy: bulk('destroy', { data: orNull(BulkDestroyData) }, { summary: 'Destroy environments' }),
  bulkRunTask: bulk('run-task', { data: orNull(BulkTaskData) }, { summary: 'Run a task in environments' }),
  bulkApprove: bulk(
    'approve',
    { data: orNull(BulkDecisionData) },
    {
      summary: 'Approve plans of environments',
      description: `Approves the plan of each environment that waits for approval ${onlyWhatWaits}`,
    },
  ),
  bulkCancel: bulk(
    'cancel',
    { data: orNull(BulkDecisionData) },
    {
      summary: 'Cancel plans of environments',
      description: `Cancels the deployment of each environment that waits for approval ${onlyWhatWaits}`,
    },
  ),
  bulkCancelQueued: bulk(
    'cancel-queued-deployments',
    {},
    { summary: 'Cancel all queued deployments of environments' },
  ),
  bulkLock: bulk('lock', { data: orNull(BulkLockData) }, { summary: 'Lock environments' }),
  bulkUnlock: bulk('unlock', {}, { summary: 'Unlock environments' }),
  bulkArchive: bulk(
    'archive',
    {},
    {
      summary: 'Archive environments',
      description: 'Marks environments inactive without destroying anything.',
    },
  ),
  getBulkOperation: operation('GET', '/bulk-operations/{id}', {
    summary: 'Get bulk operation',
    description:
      'The result for each environment, with names only of those that the caller may view. Callers other than its author see only these. Kept for 30 days.',
    needs: 'VIEW_ENVIRONMENT',
    needsAnywhere: true,
    needsToo: [{ right: 'VIEW_ENVIRONMENT', for: 'each environment that is shown to others' }],
    ...aboutOne('bulkOperation'),
    reply: BulkOperation,
  }),
});
