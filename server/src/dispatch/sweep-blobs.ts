/** Files that are no longer needed. */
import { sql } from 'kysely';
import { isTerminal, terminalStatuses } from '#contract/life-cycle/life-cycle.ts';
import type { BlobRef } from '../blobs/blob-store.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import { promiseEffect } from '../effects/effect-kind.ts';
import { removeBlobs } from '../effects/remove-blobs.ts';
import type { ReactionPayloads } from '../reactions.ts';

/** A file is stored before the commit that refers to it, so it may be unreferenced for this long. */
const unnamedHours = 2;
const idsAtOnce = 2000;

async function giveUpTravelled(
  context: Context,
  blobs: readonly { readonly blob: BlobRef }[],
): Promise<void> {
  if (blobs.length > 0) await promiseEffect(context, removeBlobs, { ids: blobs.map(({ blob }) => blob.id) });
}

/** Reaction: what travelled from a plan to its apply is removed when the deployment is over. */
export async function removeTravelled(
  context: Context,
  { deployment }: ReactionPayloads['deploymentMoved'],
): Promise<void> {
  if (!isTerminal(deployment.status)) return;
  const rows = await context.db
    .deleteFrom('attempt_blob')
    .where('job_id', 'in', (eb) =>
      eb.selectFrom('job').select('id').where('deployment_id', '=', deployment.id),
    )
    .returning('blob')
    .execute();
  await giveUpTravelled(context, rows);
}

/** What an agent stored after its deployment had ended. */
async function removeLate(context: Context): Promise<void> {
  await inTransaction(context, async (context) => {
    const rows = await context.db
      .deleteFrom('attempt_blob')
      .where('job_id', 'in', (eb) =>
        eb
          .selectFrom('job')
          .innerJoin('deployment', 'deployment.id', 'job.deployment_id')
          .select('job.id')
          .where('deployment.status', 'in', [...terminalStatuses]),
      )
      .returning('blob')
      .execute();
    await giveUpTravelled(context, rows);
  });
}

/** Only of runs and environments that this database knows: on another one, a folder keeps all that it has. */
async function removeUnnamed(context: Context, ids: readonly string[]): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select id from unnest(${[...ids]}::text[]) as stored (id)
    where not exists (select from attempt_blob where blob ->> 'id' = stored.id)
      and not exists (select from state_version where blob ->> 'id' = stored.id)
      and not exists (select from source_archive where blob ->> 'id' = stored.id)
      and (exists (select from job where job.id::text = split_part(stored.id, '/', 2))
        or exists (select from environment where environment.id::text = split_part(stored.id, '/', 2)))`.execute(
    context.db,
  );
  for (const { id } of rows) {
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
