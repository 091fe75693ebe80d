/** Changes when an environment expires. */

import type { Ttl } from '#contract/deployments/deploy-request.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import { requireEnvironment } from '../../framework/access/lock-or-refuse.ts';
import { changesOf, isUnchanged } from '../../framework/audit/changes.ts';
import { recordEnvironmentAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { updateEnvironmentRow } from '../../rows/environments/environment-store.ts';
import { inEnvironment } from '../../rows/places.ts';
import { ttlColumns } from '../../tenancy/lifetimes/lifespan.ts';
import { readPolicySettings } from '../../tenancy/project-policies/policy-settings.ts';
import { recordEnvironmentEvent } from '../feeds/organization-events.ts';
import { environmentView } from './environment-view.ts';

/**
 * The right was checked. The same end again is not recorded.
 * @throws Refusal 400 for a time in the past, or after the maximum lifetime
 */
export async function updateTtl(context: ActorContext, id: string, ttl: Ttl): Promise<Environment> {
  return inTransaction(context, async (context) => {
    const environment = await requireEnvironment(context, id);
    const home = {
      place: inEnvironment(environment),
      createdAt: environment.created_at,
      policy: await readPolicySettings(context.db, environment.project_id),
    };
    const columns = await ttlColumns(context, ttl, home, 'body');
    const from = environment.lifespan_end_at?.toISOString() ?? null;
    const to = columns.lifespan_end_at === null ? null : new Date(columns.lifespan_end_at).toISOString();
    const changes = changesOf({ lifespanEndAt: from }, { lifespanEndAt: to });
    if (isUnchanged(changes)) return environmentView(context, environment);
    const updated = await updateEnvironmentRow(context.db, environment, {
      ...columns,
      updated_at: context.now(),
    });
    await recordEnvironmentAudit(context, updated, 'environment.ttlUpdated', { from, to }, changes);
    await recordEnvironmentEvent(context, updated, 'ttl');
    return environmentView(context, updated);
  });
}
