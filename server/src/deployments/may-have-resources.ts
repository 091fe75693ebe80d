/** Whether anything may exist in the world that belongs to an environment. */
import type { Connection } from '../context.ts';
import type { EnvironmentRow } from '../environments/environment-store.ts';

/** Whether the current state of ours lists anything: it then exists, whatever our own deployments did. */
export async function recordsResources(
  db: Connection,
  { current_state_version_id: id }: Pick<EnvironmentRow, 'current_state_version_id'>,
) {
  if (id === null) return false;
  const state = await db
    .selectFrom('state_version')
    .select('resource_count')
    .where('id', '=', id)
    .executeTakeFirst();
  return (state?.resource_count ?? 0) > 0;
}

/**
 * False only when it is certain: nothing ever began to change the world, or our newest state says that
 * nothing is left. A start mark without a state of ours means a backend of the code's own, or a run that
 * died: then the tool has to look.
 */
export async function mayHaveResources(
  db: Connection,
  environment: Pick<EnvironmentRow, 'id' | 'current_state_version_id'>,
): Promise<boolean> {
  if (environment.current_state_version_id !== null) {
    const state = await db
      .selectFrom('state_version')
      .select('resource_count')
      .where('id', '=', environment.current_state_version_id)
      .executeTakeFirst();
    return state?.resource_count !== 0;
  }
  const marked = await db
    .selectFrom('attempt')
    .innerJoin('job', 'job.id', 'attempt.job_id')
    .innerJoin('deployment', 'deployment.id', 'job.deployment_id')
    .select('attempt.number')
    .where('deployment.environment_id', '=', environment.id)
    .where((eb) =>
      eb.or([
        eb('attempt.mark', 'is not', null),
        eb.and([eb('job.phase', '=', 'apply'), eb('attempt.status', '<>', 'ended')]),
      ]),
    )
    .limit(1)
    .executeTakeFirst();
  return marked !== undefined;
}
