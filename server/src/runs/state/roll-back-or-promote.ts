/** Restores an older or a rescued state, as a new version. */
import { recordEnvironmentAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, conflict, notFound } from '../../ground/errors.ts';
import { type LockedEnvironment, lockEnvironmentRow } from '../../rows/environments/environment-store.ts';
import { getStateVersion, type StateVersionRow, setStanding } from '../../rows/state/state-store.ts';
import { readStateFacts } from './files/read-state.ts';
import { release } from './files/whole-bytes.ts';
import { placeVersion } from './place-version.ts';
import { readWholeState } from './read-current-state.ts';
import { requireFreeState } from './state-holder.ts';

/** The environment under its lock, and the version at that time. @throws Refusal 404 or 409 */
async function takeFree(
  tx: Connection,
  id: string,
): Promise<{ environment: LockedEnvironment; version: StateVersionRow }> {
  const before = await getStateVersion(tx, id);
  const environment = before && (await lockEnvironmentRow(tx, before.environment_id));
  const version = environment && (await getStateVersion(tx, id));
  if (!version || !environment) throw notFound('state version', id);
  await requireFreeState(tx, environment);
  return { environment, version };
}

/** Why a version becomes the current state. */
interface RestoreReason {
  readonly origin: 'rollback' | 'promotion';
  readonly comment: string | undefined;
}

async function restore(
  context: ActorContext,
  { environment, version }: { environment: LockedEnvironment; version: StateVersionRow },
  { origin, comment }: RestoreReason,
): Promise<StateVersionRow> {
  const read = await readStateFacts(await readWholeState(context, version));
  const restored = await placeVersion(context, environment, {
    ...read,
    origin,
    comment,
    madeFromId: version.id,
  });
  release(read.bytes);
  await recordEnvironmentAudit(
    context,
    environment,
    origin === 'rollback' ? 'state.rolledBack' : 'state.promoted',
    {
      from: environment.current_state_version_id,
      to: version.id,
      stateVersionId: restored.id,
      serial: restored.serial,
    },
  );
  return restored;
}

/**
 * Makes the content of an earlier version the current state again. Plans that were made before are outdated
 * by it.
 * @throws Refusal 404, 409 while the state is held or where the version is current or rescued
 */
export async function rollBackState(
  context: ActorContext,
  id: string,
  comment: string | undefined,
): Promise<StateVersionRow> {
  return inTransaction(context, async (context) => {
    const found = await takeFree(context.db, id);
    const { standing } = found.version;
    if (standing === 'current') throw conflict('This version is already the current one');
    if (standing === 'rescued')
      throw conflict('This version was rescued and never became the current one: promote it instead');
    return restore(context, found, { origin: 'rollback', comment });
  });
}

/** Whether a version continues the current state; where there is none, every version does. */
async function isOfOtherLineage(
  tx: Connection,
  environment: LockedEnvironment,
  lineage: string,
): Promise<string | null> {
  const currentId = environment.current_state_version_id;
  const current = currentId === null ? undefined : await getStateVersion(tx, currentId);
  return current && current.lineage !== lineage ? current.lineage : null;
}

/** @throws Refusal 400 if the lineage differs and that was not accepted */
export async function requireLineage(
  tx: Connection,
  environment: LockedEnvironment,
  version: { lineage: string; isAccepted: boolean; what: string; field: string },
): Promise<void> {
  const current = version.isAccepted ? null : await isOfOtherLineage(tx, environment, version.lineage);
  if (current === null) return;
  throw badField(
    version.field,
    `must be true: ${version.what} has the lineage ${version.lineage}, the current state ${current}. It belongs to other infrastructure or was recreated; compare the two first`,
  );
}

/**
 * Makes a rescued version the current state.
 * @throws Refusal 400 for another lineage that was not accepted, 404, 409 while the state is held or
 * where it is not rescued
 */
export async function promoteState(
  context: ActorContext,
  id: string,
  { comment, acceptOtherLineage }: { comment?: string; acceptOtherLineage?: boolean },
): Promise<StateVersionRow> {
  return inTransaction(context, async (context) => {
    const found = await takeFree(context.db, id);
    const { environment, version } = found;
    if (version.standing !== 'rescued') {
      const instead =
        version.standing === 'current'
          ? 'it is the current one'
          : 'it was the current one, or was promoted before: roll back to it instead';
      throw conflict(`Only a rescued version can be promoted: ${instead}`);
    }
    await requireLineage(context.db, environment, {
      lineage: version.lineage,
      isAccepted: acceptOtherLineage === true,
      what: 'this version',
      field: 'body.acceptOtherLineage',
    });
    await setStanding(context.db, version.id, 'superseded');
    return restore(context, found, { origin: 'promotion', comment });
  });
}
