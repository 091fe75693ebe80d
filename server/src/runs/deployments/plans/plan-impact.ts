/** Impact of stored plans. */

import { countsOfSummary } from '#contract/deployments/plan-counts.ts';
import { mostImpacts, type PlanImpact, type PlanImpactQuery } from '#contract/deployments/plan-impact.ts';
import { requireRight } from '../../../framework/access/check-right.ts';
import type { ActorContext } from '../../../framework/context.ts';
import { badField, unknownEntity } from '../../../ground/errors.ts';
import { type ImpactRow, readImpacts } from '../../../rows/deployments/plan-impact-store.ts';
import { isUuid } from '../../../rows/entity-home.ts';

/** @throws Refusal 400 for no ids, or too many */
function idsOf({ deploymentIds, ids }: PlanImpactQuery): string[] {
  const all = [deploymentIds, ids].flatMap((list) => list?.split(',') ?? []);
  const requested = [...new Set(all.map((id) => id.trim()).filter((id) => id !== ''))];
  if (requested.length === 0) throw badField('query.deploymentIds', 'is required: ids of deployments');
  if (requested.length > mostImpacts)
    throw badField(
      'query.deploymentIds',
      `has ${requested.length} ids, and at most ${mostImpacts} are accepted`,
    );
  return requested;
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

/**
 * @returns by id of the deployment
 * @throws Refusal 400 for an id that the caller's organizations do not have, 403 for a deployment that the caller may
 * not view
 */
export async function planImpact(
  { db, actor }: ActorContext,
  query: PlanImpactQuery,
): Promise<Record<string, PlanImpact>> {
  const ids = idsOf(query);
  const rows = await readImpacts(db, ids.filter(isUuid));
  const field = query.deploymentIds === undefined ? 'ids' : 'deploymentIds';
  return Object.fromEntries(
    ids.map((id) => {
      const row = rows.find((each) => each.id === id.toLowerCase());
      if (!row || !actor.access.isMember(row.organization_id))
        throw unknownEntity(`query.${field}`, 'deployment');
      const place = {
        organizationId: row.organization_id,
        projectId: row.project_id,
        environmentId: row.environment_id,
      };
      requireRight(actor, place, 'VIEW_ENVIRONMENT', `/query/${field}`);
      return [id, impactOf(row)];
    }),
  );
}
