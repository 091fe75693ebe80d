/** What stored plans would do, for the deployments that the caller may view. */
import { mostImpacts, type PlanImpact, type PlanImpactQuery } from '#contract/deployments/plan-impact.ts';
import { countsOfSummary } from '#contract/deployments/plan-counts.ts';
import { isUuid } from '../../access/entity-home.ts';
import type { ActorContext } from '../../context.ts';
import { badField } from '../../http/errors.ts';
import { type ImpactRow, readImpacts } from './plan-impact-store.ts';

/** @throws Refusal 400 for no ids, or too many */
function idsOf({ deploymentIds, ids }: PlanImpactQuery): string[] {
  const all = [deploymentIds, ids].flatMap((list) => list?.split(',') ?? []);
  const given = [...new Set(all.map((id) => id.trim()).filter((id) => id !== ''))];
  if (given.length === 0) throw badField('query.deploymentIds', 'is required: ids of deployments');
  if (given.length > mostImpacts)
    throw badField('query.deploymentIds', `has ${given.length} ids, and at most ${mostImpacts} are accepted`);
  return given.filter(isUuid);
}

function impactOf({ actions, types, destructive, plan_summary: summary }: ImpactRow): PlanImpact {
  if (actions !== null) {
    const { create = 0, update = 0, delete: deleted = 0, recreate = 0, metadata = 0 } = actions;
    return {
      planReadable: true,
      create,
      update,
      delete: deleted,
      recreate,
      metadata,
      destructive: [...destructive],
      destructiveTotal: deleted + recreate,
      destructiveTypeCounts: types,
    };
  }
  if (summary === null) return { planReadable: false };
  const { create, update, destroy, replace } = countsOfSummary(summary);
  return {
    planReadable: true,
    create,
    update,
    delete: destroy,
    recreate: replace,
    destructiveTotal: destroy + replace,
  };
}

/** @returns by id of the deployment */
export async function planImpact(
  { db, actor }: ActorContext,
  query: PlanImpactQuery,
): Promise<Record<string, PlanImpact>> {
  const rows = await readImpacts(db, idsOf(query));
  const mayView = (row: ImpactRow) =>
    actor.access.has('VIEW_ENVIRONMENT', {
      organizationId: row.organization_id,
      projectId: row.project_id,
      environmentId: row.environment_id,
    });
  return Object.fromEntries(rows.filter(mayView).map((row) => [row.id, impactOf(row)]));
}
