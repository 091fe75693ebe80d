/** Loops: files that nobody needs any more. Each pass can be cut off anywhere: the next one goes on. */
import { sql } from 'kysely';
import { terminalStatuses } from '#contract/life-cycle/life-cycle.ts';
import type { Context } from '../context.ts';

/** A file is stored before the commit that names it: for so long it may be named by nobody. */
const unnamedHours = 2;
const idsAtOnce = 2000;

/** What travelled from a plan to its apply goes when the deployment is over. */
export async function removeTravelled(context: Context): Promise<void> {
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
  for (const { blob } of rows) await context.blobs.remove(blob);
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
 * Files that no row names: what was left when the service was killed between a file and its commit, or a
 * commit and a removal.
 */
export async function removeLeftovers(context: Context): Promise<void> {
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
