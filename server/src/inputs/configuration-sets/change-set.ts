/** Makes, changes and deletes configuration sets. */
import type { CreateSetBody, UpdateSetBody } from '#contract/configuration-sets/operations.ts';
import type { ConfigurationSet } from '#contract/configuration-sets/shapes.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, conflict, orNotFound, type Refusal } from '../../ground/errors.ts';
import {
  getSetRow,
  insertSet,
  lockSetRow,
  type SetRow,
  updateSetRow,
} from '../../rows/configuration-sets/configuration-set-store.ts';
import type { Place } from '../../rows/places.ts';
import { placeOfSet } from './change-assignments.ts';
import { setView } from './configuration-set-view.ts';
import { changeSetVariables } from './set-variables.ts';

function audited({ name, description }: SetRow) {
  return { name, description };
}

function nameTaken(name: string, { projectId }: Place): Refusal {
  const scope = projectId === null ? 'organization' : 'project';
  return conflict(`A configuration set named "${name}" already exists in this ${scope}: choose another name`);
}

/** @throws Refusal 403 without the right to change what belongs to the organization, or to the project */
function requireEditRight({ actor }: ActorContext, place: Place): void {
  const right = place.projectId === null ? 'EDIT_ORGANIZATION_SETTINGS' : 'EDIT_PROJECT_SETTINGS';
  requireRight(
    actor,
    place,
    right,
    `A configuration set of the ${place.projectId ? 'project' : 'organization'}`,
  );
}

async function auditSet(
  context: ActorContext,
  row: SetRow,
  action: 'created' | 'updated' | 'deleted',
  changes: ReturnType<typeof changesOf>,
): Promise<void> {
  await recordAudit(context, {
    organizationId: row.organization_id,
    projectId: row.project_id,
    action: `configurationSet.${action}`,
    entityId: row.id,
    details: { name: row.name },
    ...changes,
  });
}

/**
 * @param place what `scopeId` names
 * @throws Refusal 400 for a scope that is not the one of `scopeId`, 403, 409 for a taken name, and as
 * `changeSetVariables`
 */
export async function createSet(
  context: ActorContext,
  body: CreateSetBody,
  place: Place,
): Promise<ConfigurationSet> {
  const isProject = place.projectId !== null;
  if (isProject !== (body.scope === 'project'))
    throw badField('body.scopeId', `is the id of ${isProject ? 'a project' : 'an organization'}`);
  requireEditRight(context, place);
  return inTransaction(context, async (context) => {
    const now = context.now();
    const row = await insertSet(context.db, {
      id: context.newId(),
      organization_id: place.organizationId,
      project_id: place.projectId,
      name: body.name,
      description: body.description ?? '',
      created_by: context.actor.userId,
      created_at: now,
      updated_at: now,
    });
    if (!row) throw nameTaken(body.name, place);
    await auditSet(context, row, 'created', changesOf(null, audited(row)));
    await changeSetVariables(
      context,
      row,
      body.configurationProperties ?? [],
      'body.configurationProperties',
    );
    return setView(context.db, row);
  });
}

/** The set, locked until the transaction ends. @throws Refusal 404 */
export async function lockSet(db: Connection, id: string): Promise<SetRow> {
  return orNotFound(await lockSetRow(db, id), 'configuration set', id);
}

/** @throws Refusal 403, 409 for a taken name, and as `changeSetVariables` */
export async function updateSet(
  context: ActorContext,
  id: string,
  body: UpdateSetBody,
): Promise<ConfigurationSet> {
  return inTransaction(context, async (context) => {
    const found = orNotFound(await getSetRow(context.db, id), 'configuration set', id);
    requireEditRight(context, placeOfSet(found));
    const set = await lockSet(context.db, id);
    const name = body.name ?? set.name;
    const changed = await updateSetRow(context.db, id, {
      name,
      description: body.description ?? set.description,
      updated_at: context.now(),
    });
    if (!changed) throw nameTaken(name, placeOfSet(set));
    const changes = body.configurationPropertiesChanges ?? [];
    await changeSetVariables(context, changed, changes, 'body.configurationPropertiesChanges');
    await auditSet(context, changed, 'updated', changesOf(audited(set), audited(changed)));
    return setView(context.db, changed);
  });
}

/** Its variables and assignments remain for the history, without effect. @throws Refusal 403 */
export async function deleteSet(context: ActorContext, id: string): Promise<{ id: string }> {
  return inTransaction(context, async (context) => {
    const set = await lockSet(context.db, id);
    requireEditRight(context, placeOfSet(set));
    await updateSetRow(context.db, id, { deleted_at: context.now() });
    await auditSet(context, set, 'deleted', changesOf(audited(set), null));
    return { id };
  });
}
