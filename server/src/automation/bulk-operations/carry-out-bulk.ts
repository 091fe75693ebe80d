/**
 * Carries out the items of a bulk operation, one after the other, each in a transaction that also stores the result of
 * it: whatever dies, an item is carried out once or is still pending. The request that brought them begins; an effect
 * continues with what is left.
 */
import type { BulkData } from '#contract/bulk-operations/operations.ts';
import { onBehalf } from '../../framework/access/on-behalf.ts';
import type { ActorContext, Context } from '../../framework/context.ts';
import type { EffectKind } from '../../framework/effects/effect-kind.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { whyUnavailable } from '../../ground/database/unavailable.ts';
import { Refusal } from '../../ground/errors.ts';
import {
  type BulkItemRow,
  type BulkRow,
  failPendingItems,
  finishItem,
  finishOperation,
  getBulkRow,
  lockNextItem,
} from '../../rows/bulk-operations/bulk-store.ts';
import { actOnEnvironment } from './act-on-environment.ts';

/** Maximum time of an effect in one go: less than effects may take. */
const workMilliseconds = 30_000;
/** The pause before the results of items that another server is carrying out are read. */
const lookAgainMilliseconds = 5000;

/** Binding of the sealed data of an operation. */
export function association(id: string) {
  return { table: 'bulk_operation', row: id, field: 'sealed_data' };
}

/** @returns null where it cannot be read: it is damaged, or its sealing key is lost */
function dataOf({ sealer, log }: Context, { id, sealed_data: sealed }: BulkRow): BulkData | null {
  if (sealed === null) return {};
  try {
    return JSON.parse(sealer.open(sealed, association(id)).toString('utf8')) as BulkData;
  } catch (error) {
    log.error({ err: error, operationId: id }, 'what a bulk operation is to do cannot be read');
    return null;
  }
}

const unreadable =
  'The content of the request cannot be read any more (the log of the service says why): send the request again';

type BulkItemKey = Pick<BulkItemRow, 'operation_id' | 'position'>;

async function fail(context: ActorContext, item: BulkItemKey, error: unknown): Promise<void> {
  const { operation_id: operationId, position } = item;
  if (!(error instanceof Refusal))
    context.log.error({ err: error, operationId, position }, 'an item of a bulk operation failed');
  const text =
    error instanceof Refusal
      ? error.message
      : `The service failed; its log says why, under the request id ${context.requestId}`;
  await finishItem(context.db, item, {
    status: 'failed',
    error: text,
    deployment_id: null,
    finished_at: context.now(),
  });
}

/** @returns false where no item is left that is not taken */
async function carryOutNext(context: ActorContext, operation: BulkRow, data: BulkData): Promise<boolean> {
  let found: BulkItemRow | undefined;
  try {
    await inTransaction(context, async (context) => {
      found = await lockNextItem(context.db, operation.id);
      if (!found) return;
      const deploymentId = await actOnEnvironment(context, operation.kind, found, data);
      await finishItem(context.db, found, {
        status: 'success',
        error: null,
        deployment_id: deploymentId,
        finished_at: context.now(),
      });
    });
  } catch (error) {
    if (!found) throw error;
    // Nothing of the item is stored: it stays pending, and the effect comes back to it.
    if (whyUnavailable(error) !== null) {
      context.log.warn({ err: error, operationId: operation.id }, 'an item of a bulk operation is put off');
      return false;
    }
    await fail(context, found, error);
  }
  return found !== undefined;
}

/**
 * @param context of the one who requested it
 * @param isOver whether to leave the rest to others
 * @returns whether all items are finished
 */
export async function carryOutItems(
  context: ActorContext,
  operation: BulkRow,
  isOver: () => boolean,
): Promise<boolean> {
  if (operation.finished_at !== null) return true;
  const data = dataOf(context, operation);
  if (data === null) await failPendingItems(context.db, operation.id, unreadable, context.now());
  else while (!isOver() && (await carryOutNext(context, operation, data)));
  return finishOperation(context.db, operation.id, context.now());
}

const byAuthor = (context: Context, { created_by, key_id, request_id, address }: BulkRow) =>
  onBehalf(context, { userId: created_by, keyId: key_id, requestId: request_id, address });

interface BulkPayload {
  readonly operationId: string;
}

/** Effect: continues with what the request has left. */
export const continueBulk: EffectKind<BulkPayload> = {
  name: 'bulkOperations.continue',
  isSlow: true,
  async carryOut(context, { operationId }, signal) {
    const operation = await getBulkRow(context.db, operationId);
    if (!operation) return;
    const until = performance.now() + workMilliseconds;
    const isOver = () => signal.aborted || performance.now() > until;
    const isFinished = await carryOutItems(await byAuthor(context, operation), operation, isOver);
    signal.throwIfAborted();
    if (isFinished) return;
    const isLate = performance.now() > until;
    return new Date(context.now().getTime() + (isLate ? 0 : lookAgainMilliseconds));
  },
};
