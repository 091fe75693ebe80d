/** Files that are no longer needed. */
import { isTerminal } from '#contract/life-cycle/life-cycle.ts';
import type { Context } from '../../../framework/context.ts';
import { promiseEffect } from '../../../framework/effects/effect-kind.ts';
import { removeBlobs } from '../../../framework/effects/remove-blobs.ts';
import type { ReactionPayloads } from '../../../framework/reactions.ts';
import { inTransaction } from '../../../ground/database/transaction.ts';
import {
  type BlobFile,
  deleteBlobsOfDeployment,
  deleteLateAttemptBlobs,
  listUnnamedBlobs,
} from '../../../rows/dispatch/attempt-blob-store.ts';

/** A file is stored before the commit that refers to it, so it may be unreferenced for this long. */
const unnamedHours = 2;
const idsAtOnce = 2000;

async function giveUpTravelled(context: Context, blobs: readonly BlobFile[]): Promise<void> {
  if (blobs.length > 0) await promiseEffect(context, removeBlobs, { ids: blobs.map(({ id }) => id) });
}

/** Reaction: the files that went from a plan to its apply is removed when the deployment is over. */
export async function removeTravelled(
  context: Context,
  { deployment }: ReactionPayloads['deploymentMoved'],
): Promise<void> {
  if (!isTerminal(deployment.status)) return;
  await giveUpTravelled(context, await deleteBlobsOfDeployment(context.db, deployment.id));
}

/** Blobs that an agent stored after its deployment had ended. */
async function removeLate(context: Context): Promise<void> {
  await inTransaction(context, async (context) => {
    await giveUpTravelled(context, await deleteLateAttemptBlobs(context.db));
  });
}

async function removeUnnamed(context: Context, ids: readonly string[]): Promise<void> {
  for (const id of await listUnnamedBlobs(context.db, ids)) {
    await context.blobs.remove({ id });
    context.log.info({ blob: id }, 'blob removed that nothing named');
  }
}

/**
 * Loop: files that no row names, left behind when the service was killed between a file and its commit. Nothing
 * can promise their removal, so this loop finds them.
 */
export async function removeLeftovers(context: Context): Promise<void> {
  await removeLate(context);
  const before = new Date(context.now().getTime() - unnamedHours * 3_600_000);
  let ids: string[] = [];
  for await (const id of context.blobs.listStoredBefore(before)) {
    if (ids.push(id) < idsAtOnce) continue;
    await removeUnnamed(context, ids);
    ids = [];
  }
  if (ids.length > 0) await removeUnnamed(context, ids);
  await context.blobs.tidyUp(before);
}
