/** Accepts a bulk operation, and carries out as much of it as a caller waits for. */
import type { BulkData } from '#contract/bulk-operations/operations.ts';
import type { BulkKind, BulkOperation } from '#contract/bulk-operations/shapes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { promiseEffect } from '../../framework/effects/effect-kind.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, unknownEntity } from '../../ground/errors.ts';
import {
  type BulkRow,
  getBulkRow,
  insertBulkOperation,
  type NewItem,
} from '../../rows/bulk-operations/bulk-store.ts';
import { openDeploymentsOf } from '../../rows/deployments/deployment-store.ts';
import { isUuid } from '../../rows/entity-home.ts';
import { getEnvironmentRows } from '../../rows/environments/environment-store.ts';
import { bulkView } from './bulk-view.ts';
import { association, carryOutItems, continueBulk } from './carry-out-bulk.ts';

/** Maximum time for which a request waits for its items; the effect takes over then. */
const waitSeconds = 20;

interface BulkRequest {
  readonly environmentIds: readonly string[];
  readonly organizationId: string;
  readonly data?: BulkData | null;
}

/** @throws Refusal 400 that names the first id that is not an environment of the organization */
async function checkEnvironments({ db }: ActorContext, request: BulkRequest): Promise<readonly string[]> {
  const { environmentIds, organizationId } = request;
  const rows = await getEnvironmentRows(db, environmentIds.filter(isUuid));
  const known = new Set(
    rows.filter((row) => row.organization_id === organizationId).map(({ id }) => id.toLowerCase()),
  );
  const unknown = environmentIds.findIndex((id) => !known.has(id.toLowerCase()));
  if (unknown >= 0) throw unknownEntity(`body.environmentIds.${unknown}`, 'environment');
  return [...new Set(environmentIds.map((id) => id.toLowerCase()))];
}

function checkData(kind: BulkKind, { taskPayload }: BulkData): void {
  if (kind === 'run-task' && !taskPayload?.trim())
    throw badField('body.data.taskPayload', 'is required: the shell commands to run');
}

/** @throws Refusal 400 for an id that is not one of the request */
function plansById({ planHashes = {} }: BulkData, environmentIds: readonly string[]) {
  const plans = new Map(Object.entries(planHashes).map(([id, hash]) => [id.toLowerCase(), hash]));
  for (const id of plans.keys())
    if (!environmentIds.includes(id))
      throw badField('body.data.planHashes', 'may only contain ids that are in `environmentIds`');
  return plans;
}

/** The items of a request, each with the plan that waits now, unless the caller means another one. */
async function newItems(
  { db }: ActorContext,
  environmentIds: readonly string[],
  plans: ReadonlyMap<string, string>,
): Promise<NewItem[]> {
  const open = await openDeploymentsOf(db, environmentIds);
  const waiting = open.filter(({ status }) => status === 'WAITING_FOR_USER');
  const byEnvironment = new Map(waiting.map((each) => [each.environment_id, each]));
  return environmentIds.map((id) => {
    const found = byEnvironment.get(id);
    const isMeant = !plans.has(id) || plans.get(id) === found?.plan_hash;
    const plan = isMeant ? found : undefined;
    return {
      environment_id: id,
      waiting_deployment_id: plan?.id ?? null,
      waiting_plan_hash: plan?.plan_hash ?? null,
    };
  });
}

async function accept(context: ActorContext, kind: BulkKind, request: BulkRequest): Promise<BulkRow> {
  const data = request.data ?? {};
  checkData(kind, data);
  const environmentIds = await checkEnvironments(context, request);
  const plans = plansById(data, environmentIds);
  const id = context.newId();
  const { actor, requestId, address = null } = context;
  const now = context.now();
  const row = {
    id,
    organization_id: request.organizationId,
    kind,
    sealed_data: context.sealer.seal(JSON.stringify(data), association(id)),
    created_by: actor.userId,
    key_id: actor.keyId,
    address,
    request_id: requestId,
    created_at: now,
  };
  const items = await newItems(context, environmentIds, plans);
  const inserted = await insertBulkOperation(context.db, row, items);
  await recordAudit(context, {
    organizationId: request.organizationId,
    action: 'bulkOperation.started',
    entityId: id,
    details: { operation: kind, environmentIds: [...environmentIds] },
  });
  const dueAt = context.db.isTransaction ? now : new Date(now.getTime() + waitSeconds * 1000);
  await promiseEffect(context, continueBulk, { operationId: id }, dueAt);
  return inserted;
}

/**
 * The caller has checked that the actor has the right somewhere in the organization; each item requires it again.
 * @returns the operation, with the results of its items so far
 * @throws Refusal 400 before anything is stored
 */
export async function startBulkOperation(
  context: ActorContext,
  kind: BulkKind,
  request: BulkRequest,
): Promise<BulkOperation> {
  const operation = await inTransaction(context, (context) => accept(context, kind, request));
  // In the transaction of an `Idempotency-Key` nothing can be carried out before it ends.
  if (!context.db.isTransaction) {
    const until = performance.now() + waitSeconds * 1000;
    await carryOutItems(context, operation, () => context.stopping.aborted || performance.now() > until);
  }
  return bulkView(context, (await getBulkRow(context.db, operation.id)) ?? operation);
}
