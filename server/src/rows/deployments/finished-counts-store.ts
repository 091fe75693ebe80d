/** SQL of how many deployments finished. */
import { sql } from 'kysely';
import type { DeploymentStatus, DeploymentType } from '#contract/schema/enumerations.ts';
import type { Connection } from '../../framework/context.ts';
import type { Reach } from '../places.ts';

export interface FinishedCount {
  /** A day in UTC, as 2026-01-31. */
  readonly day: string;
  readonly type: DeploymentType;
  readonly status: DeploymentStatus;
  readonly started_by: string;
  readonly count: number;
}

/** Deployments that finished since a time, in the places that a reader sees. */
export async function countFinished(
  db: Connection,
  { organizationIds, projectIds, environmentIds }: Reach,
  since: Date,
): Promise<FinishedCount[]> {
  if (organizationIds.length + projectIds.length + environmentIds.length === 0) return [];
  return db
    .selectFrom('deployment')
    .select([
      sql<string>`to_char(finished_at at time zone 'UTC', 'YYYY-MM-DD')`.as('day'),
      'type',
      'status',
      'started_by',
      sql<number>`count(*)::integer`.as('count'),
    ])
    .where('finished_at', '>=', since)
    .where(
      sql<boolean>`(organization_id = any(${organizationIds}::uuid[]) or project_id = any(${projectIds}::uuid[])
        or environment_id = any(${environmentIds}::uuid[]))`,
    )
    .groupBy(['day', 'type', 'status', 'started_by'])
    .execute();
}
