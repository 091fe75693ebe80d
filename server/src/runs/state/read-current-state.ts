/** The content of states, for runs and for people with the right. */
import type { Readable } from 'node:stream';
import type { ActorContext, Context } from '../../framework/context.ts';
import { beginReading } from '../../ground/blobs/begin-reading.ts';
import { Refusal } from '../../ground/errors.ts';
import { getEnvironmentRow } from '../../rows/environments/environment-store.ts';
import { getStateVersion, type StateVersionRow } from '../../rows/state/state-store.ts';
import { isOperator } from '../../rows/users/user-store.ts';
import { readWhole } from './files/whole-bytes.ts';

async function currentVersion(context: Context, environmentId: string): Promise<StateVersionRow | undefined> {
  const environment = await getEnvironmentRow(context.db, environmentId);
  const id = environment?.current_state_version_id;
  return id ? getStateVersion(context.db, id) : undefined;
}

/**
 * @returns the environment's current state with its size, or null where it has none
 * @throws Refusal 404 where its content is lost
 */
export async function readCurrentState(
  context: Context,
  environmentId: string,
): Promise<{ readonly content: Readable; readonly bytes: number } | null> {
  for (let before: string | null = null; ; ) {
    const version = await currentVersion(context, environmentId);
    if (!version) return null;
    try {
      const content = await beginReading(context.blobs.get(version.blob), `State version ${version.id}`);
      return { content, bytes: version.bytes };
    } catch (error) {
      // While a run is at work, its newer content replaces the one that was found.
      if (version.blob.id === before) throw error;
      before = version.blob.id;
    }
  }
}

/** @throws Refusal 403 where a version is withheld and the caller is not the operator */
export async function requireReadable(context: ActorContext, version: StateVersionRow): Promise<void> {
  if (version.is_withheld && !(await isOperator(context.db, context.actor.userId)))
    throw new Refusal(
      'forbidden',
      'This state has the lineage of another environment: a run brought what it should not have been able to read. Only the operator can read, promote or delete it',
    );
}

/**
 * The content of a version for a person.
 * @throws Refusal 404 where its content is lost, 403 where it is withheld and the caller is not the operator
 */
export async function readStateVersion(context: ActorContext, version: StateVersionRow): Promise<Readable> {
  await requireReadable(context, version);
  return beginReading(context.blobs.get(version.blob), `State version ${version.id}`);
}

/**
 * The whole content of a version.
 * @throws what `readStateVersion` throws
 */
export async function readWholeState(
  context: ActorContext,
  version: StateVersionRow,
): Promise<Buffer<ArrayBuffer>> {
  const content = await readStateVersion(context, version);
  // The stored size is that of the content: there is never more.
  return (await readWhole(content, { expected: version.bytes, most: Infinity })) as Buffer<ArrayBuffer>;
}
