/**
 * Loop: removes superseded versions of states that are old, and not among the newest ones of their environment.
 * Never the current version, a rescued one, or one that an open deployment was planned on.
 */
import { storeAudit } from '../../framework/audit/record.ts';
import type { Context } from '../../framework/context.ts';
import { promiseEffect } from '../../framework/effects/effect-kind.ts';
import { removeBlobs } from '../../framework/effects/remove-blobs.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { openDeployments } from '../../rows/deployments/deployment-store.ts';
import { lockEnvironmentRow } from '../../rows/environments/environment-store.ts';
import { recordChange } from '../../rows/feeds/organization-news-store.ts';
import {
  deleteStateVersions,
  environmentsWithOldVersions,
  listOldVersions,
  type OldVersions,
} from '../../rows/state/state-store.ts';

export const sweepEverySeconds = 3600;
const dayMilliseconds = 86_400_000;

async function removeOf(context: Context, environmentId: string, old: OldVersions): Promise<void> {
  await inTransaction(context, async (context) => {
    const { db } = context;
    const environment = await lockEnvironmentRow(db, environmentId);
    if (!environment) return;
    const open = await openDeployments(db, environmentId);
    const needed = open.flatMap((row) => [row.planned_on_state_version_id, row.state_version_id]);
    const ids = (await listOldVersions(db, environmentId, old)).filter((id) => !needed.includes(id));
    if (ids.length === 0) return;
    await promiseEffect(context, removeBlobs, { ids: await deleteStateVersions(db, ids) });
    const place = { organizationId: environment.organization_id, projectId: environment.project_id };
    await recordChange(context, { ...place, environmentId, entity: 'state', id: environmentId });
    await storeAudit(context, {
      ...place,
      action: 'state.versionsRemoved',
      entity: 'environment',
      entityId: environmentId,
      details: { versions: ids.length },
    });
    context.log.info({ environmentId, versions: ids.length }, 'old state versions removed');
  });
}

export async function removeOldVersions(context: Context): Promise<void> {
  const { stateVersionDays: days, stateVersionsKept: kept } = context.settings;
  if (days === 0) return;
  const old = { kept, before: new Date(context.now().getTime() - days * dayMilliseconds) };
  for (const id of await environmentsWithOldVersions(context.db, old)) await removeOf(context, id, old);
}
