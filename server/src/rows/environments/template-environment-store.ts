/** SQL about the environments of templates. */
import type { EnvironmentStatus } from '#contract/schema/enumerations.ts';
import type { Connection } from '../../framework/context.ts';

/** Nothing of such environments is left, or it is being destroyed. */
const withoutResources: readonly EnvironmentStatus[] = [
  'CREATED',
  'NEVER_DEPLOYED',
  'INACTIVE',
  'DESTROY_IN_PROGRESS',
];

export interface EnvironmentUse {
  readonly id: string;
  readonly name: string;
  readonly project_id: string;
}

/** Environments of some templates that are not archived and may have resources, by name. */
export async function activeEnvironmentsOf(
  db: Connection,
  templateIds: readonly string[],
): Promise<EnvironmentUse[]> {
  if (templateIds.length === 0) return [];
  return db
    .selectFrom('environment')
    .select(['id', 'name', 'project_id'])
    .where('template_id', 'in', [...templateIds])
    .where('is_archived', '=', false)
    .where('status', 'not in', [...withoutResources])
    .orderBy('name')
    .orderBy('id')
    .execute();
}
