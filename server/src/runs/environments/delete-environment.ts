/** Deletes an environment that never had resources, with everything that belongs only to it. */
import { requireEnvironment } from '../../framework/access/lock-or-refuse.ts';
import { recordEnvironmentAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { promiseEffect } from '../../framework/effects/effect-kind.ts';
import { removeBlobs } from '../../framework/effects/remove-blobs.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { conflict } from '../../ground/errors.ts';
import { deleteAssignmentsOf } from '../../rows/configuration-sets/configuration-set-store.ts';
import { deleteAssignmentsOfTemplates } from '../../rows/custom-flows/assignment-store.ts';
import { deleteDeployments, openDeployments } from '../../rows/deployments/deployment-store.ts';
import { templatesOfDeployments } from '../../rows/deployments/placeholder-store.ts';
import { deleteAttemptBlobs } from '../../rows/dispatch/attempt-blob-store.ts';
import { deleteEnvironmentRow, type LockedEnvironment } from '../../rows/environments/environment-store.ts';
import { deleteSources } from '../../rows/sources/source-store.ts';
import { getStateLock, lockInWords } from '../../rows/state/state-lock-store.ts';
import { countStateVersions } from '../../rows/state/state-store.ts';
import { deleteSingleUseTemplates } from '../../rows/templates/template-store.ts';
import { deleteVariablesOf } from '../../rows/variables/variable-store.ts';
import { resourcesOf } from '../deployments/inputs/start-facts.ts';
import { recordEnvironmentEvent } from '../feeds/organization-events.ts';
import { type DeleteFacts, refusalOfDelete } from './decide-delete.ts';

async function loadFacts(tx: Connection, environment: LockedEnvironment): Promise<DeleteFacts> {
  const stateLock = await getStateLock(tx, environment.id);
  return {
    environment: {
      name: environment.name,
      isLocked: environment.is_locked,
      lockReason: environment.lock_reason,
    },
    open: await openDeployments(tx, environment.id),
    stateLock: stateLock ? lockInWords(stateLock) : null,
    stateVersions: await countStateVersions(tx, environment.id),
    wasChanged: (await resourcesOf(tx, environment)).mayExist,
  };
}

/** Audit events remain. */
async function deleteBelongings(context: ActorContext, environment: LockedEnvironment): Promise<void> {
  const { db } = context;
  const templateIds = [environment.template_id, ...(await templatesOfDeployments(db, environment.id))];
  const blobs = await deleteAttemptBlobs(db, environment.id);
  const deploymentIds = await deleteDeployments(db, environment.id);
  blobs.push(...(await deleteSources(db, environment.id)));
  if (blobs.length > 0) await promiseEffect(context, removeBlobs, { ids: blobs.map(({ id }) => id) });
  await deleteVariablesOf(db, 'ENVIRONMENT', [environment.id]);
  await deleteVariablesOf(db, 'WORKFLOW', [environment.id]);
  await deleteVariablesOf(db, 'DEPLOYMENT', deploymentIds);
  await deleteAssignmentsOf(db, 'environment', [environment.id]);
  await deleteAssignmentsOf(db, 'deployment', deploymentIds);
  await deleteEnvironmentRow(db, environment);
  const deleted = await deleteSingleUseTemplates(db, templateIds);
  await deleteVariablesOf(db, 'BLUEPRINT', deleted);
  await deleteAssignmentsOf(db, 'template', deleted);
  await deleteAssignmentsOfTemplates(db, deleted);
}

/** The right was checked. @throws Refusal 409 if it is in use or may have resources, before anything is written */
export async function deleteEnvironment(context: ActorContext, id: string): Promise<{ id: string }> {
  return inTransaction(context, async (context) => {
    const environment = await requireEnvironment(context, id);
    const refused = refusalOfDelete(await loadFacts(context.db, environment));
    if (refused !== null) throw conflict(refused);
    await deleteBelongings(context, environment);
    await recordEnvironmentAudit(context, environment, 'environment.deleted', {
      name: environment.name,
      projectId: environment.project_id,
    });
    await recordEnvironmentEvent(context, environment, 'deleted');
    return { id };
  });
}
