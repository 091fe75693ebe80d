/**
 * Makes a state that a person imports or restores the current one: as a new version, with a serial above all
 * that ever were.
 */
import { withNumber } from '#guards/json-bytes.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { Refusal } from '../../ground/errors.ts';
import { type LockedEnvironment, updateEnvironmentRow } from '../../rows/environments/environment-store.ts';
import {
  highestSerial,
  insertStateVersion,
  type NewStateVersion,
  rescuedBytes,
  type StateVersionRow,
  supersedeCurrent,
} from '../../rows/state/state-store.ts';
import type { ReadState } from './files/read-state.ts';

export type PlacedState = ReadState & Pick<NewStateVersion, 'origin' | 'comment' | 'madeFromId' | 'lockId'>;

/**
 * The same content under a serial that no version of the environment has; what OpenTofu has encrypted keeps
 * its own.
 */
async function renumbered(
  tx: Connection,
  environmentId: string,
  { bytes, facts, serialPlace }: PlacedState,
): Promise<{ pieces: Buffer[]; serial: number }> {
  if (facts.isSerialSealed) return { pieces: [bytes], serial: facts.serial };
  const highest = await highestSerial(tx, environmentId);
  const serial = Math.max(facts.serial, highest === null ? 0 : highest + 1);
  if (serial === facts.serial) return { pieces: [bytes], serial };
  return { pieces: withNumber(bytes, serialPlace, serial), serial };
}

const megabyte = 1024 * 1024;

/**
 * The caller has locked the environment.
 * @param replacedId the rescued version whose content makes room
 * @throws Refusal 413 where the rescued versions of the environment would become too large together
 */
export async function requireRescueSpace(
  { db, settings }: ActorContext,
  environmentId: string,
  bytes: number,
  replacedId?: string,
): Promise<void> {
  const limit = settings.rescuedStatesLimitMegabytes;
  const others = await rescuedBytes(db, environmentId, { least: megabyte, exceptId: replacedId });
  if (others + Math.max(bytes, megabyte) > limit * megabyte)
    throw new Refusal(
      'payload_too_large',
      'The state cannot become current, and is not kept as rescued: the rescued versions of the environment ' +
        `would be larger than ${limit} MB, the limit set by ENVARIUM_RESCUED_STATES_LIMIT_MB. ` +
        'Compare it with the current version before importing it',
    );
}

/**
 * Stores a version as it is. A blob that no commit follows is found later by the sweep of blobs.
 * @param pieces its content, if it differs from the bytes that the facts were read from
 */
export async function storeVersion(
  context: ActorContext,
  environment: LockedEnvironment,
  state: PlacedState,
  standing: 'current' | 'rescued' = 'current',
  pieces: readonly Buffer[] = [state.bytes],
): Promise<StateVersionRow> {
  const { facts, origin, comment, madeFromId, lockId } = state;
  if (standing === 'rescued') await requireRescueSpace(context, environment.id, state.bytes.length);
  const blob = await context.blobs.put(['states', environment.id], pieces);
  if (standing === 'current') await supersedeCurrent(context.db, environment.id);
  const version = await insertStateVersion(context.db, {
    id: context.newId(),
    environmentId: environment.id,
    deploymentId: null,
    jobId: null,
    attempt: null,
    origin,
    createdBy: context.actor.userId,
    comment,
    ...facts,
    sha256: blob.sha256,
    bytes: blob.bytes,
    followsId: environment.current_state_version_id,
    ...(madeFromId === undefined ? {} : { madeFromId }),
    ...(lockId === undefined ? {} : { lockId }),
    standing,
    blob,
    at: context.now(),
  });
  if (standing === 'current')
    await updateEnvironmentRow(context.db, environment, { current_state_version_id: version.id });
  return version;
}

/**
 * The same under a serial above all that the environment's state ever had, so that no tool takes it for an
 * older one. What OpenTofu has encrypted stays as it is. The caller has checked that the state is not held.
 */
export async function placeVersion(
  context: ActorContext,
  environment: LockedEnvironment,
  state: PlacedState,
): Promise<StateVersionRow> {
  const { pieces, serial } = await renumbered(context.db, environment.id, state);
  const facts = { ...state.facts, serial };
  return storeVersion(context, environment, { ...state, facts }, 'current', pieces);
}
