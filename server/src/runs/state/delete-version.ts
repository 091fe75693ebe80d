/** Deletes a rescued version of a state, which a person has checked. */
import { recordEnvironmentAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { promiseEffect } from '../../framework/effects/effect-kind.ts';
import { removeBlobs } from '../../framework/effects/remove-blobs.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { conflict, notFound } from '../../ground/errors.ts';
import { lockEnvironmentRow } from '../../rows/environments/environment-store.ts';
import { deleteStateVersions, getStateVersion } from '../../rows/state/state-store.ts';
import { requireReadable } from './read-current-state.ts';

/** @throws Refusal 403 for a withheld one, 404, 409 for a version that is not rescued */
export async function deleteStateVersion(context: ActorContext, id: string): Promise<{ id: string }> {
  return inTransaction(context, async (context) => {
    const { db } = context;
    const before = await getStateVersion(db, id);
    const environment = before && (await lockEnvironmentRow(db, before.environment_id));
    const version = environment && (await getStateVersion(db, id));
    if (!version || !environment) throw notFound('state version', id);
    await requireReadable(context, version);
    if (version.standing !== 'rescued')
      throw conflict(
        version.standing === 'current'
          ? 'Only a rescued version can be deleted: this one is the current state'
          : 'Only a rescued version can be deleted: superseded ones are removed after ENVARIUM_STATE_VERSION_DAYS',
      );
    await promiseEffect(context, removeBlobs, { ids: await deleteStateVersions(db, [id]) });
    const { deployment_id: deploymentId, serial, lineage, sha256 } = version;
    await recordEnvironmentAudit(context, environment, 'state.versionDeleted', {
      stateVersionId: id,
      ...{ deploymentId, serial, lineage, sha256 },
    });
    return { id };
  });
}
