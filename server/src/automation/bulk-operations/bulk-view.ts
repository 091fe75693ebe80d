/** Bulk operations as replies show them. */
import type { BulkItem, BulkOperation } from '#contract/bulk-operations/shapes.ts';
import type { ActorContext } from '../../framework/context.ts';
import { type BulkItemRow, type BulkRow, listBulkItems } from '../../rows/bulk-operations/bulk-store.ts';
import { type EnvironmentRow, getEnvironmentRows } from '../../rows/environments/environment-store.ts';
import { inEnvironment } from '../../rows/places.ts';

function itemView(row: BulkItemRow, environment: EnvironmentRow | undefined): BulkItem {
  return {
    environmentId: row.environment_id,
    ...(environment ? { environmentName: environment.name } : {}),
    status: row.status,
    ...(row.error === null ? {} : { error: row.error }),
    ...(row.deployment_id === null ? {} : { deploymentId: row.deployment_id }),
  };
}

/** Its author sees all environments, others those that they may view; names are shown to who may view the environment. */
export async function bulkView({ db, actor }: ActorContext, row: BulkRow): Promise<BulkOperation> {
  const items = await listBulkItems(db, row.id);
  const found = await getEnvironmentRows(
    db,
    items.map((item) => item.environment_id),
  );
  const environments = new Map(found.map((environment) => [environment.id, environment]));
  const isAuthor = actor.userId === row.created_by;
  const visible = ({ environment_id: id }: BulkItemRow) => {
    const environment = environments.get(id);
    const isVisible = environment && actor.access.has('VIEW_ENVIRONMENT', inEnvironment(environment));
    return isVisible ? environment : undefined;
  };
  return {
    id: row.id,
    organizationId: row.organization_id,
    operation: row.kind,
    createdBy: row.created_by,
    createdAt: row.created_at.toISOString(),
    ...(row.finished_at === null ? {} : { finishedAt: row.finished_at.toISOString() }),
    data: items.flatMap((item) => {
      const environment = visible(item);
      return isAuthor || environment ? [itemView(item, environment)] : [];
    }),
  };
}
