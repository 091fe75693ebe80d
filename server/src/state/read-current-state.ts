/** The content of states, for runs and for people with the right. */
import type { Readable } from 'node:stream';
import type { Context } from '../context.ts';
import { getStateVersion, type StateVersionRow } from './state-store.ts';

/** @returns the environment's current state, or null where it has none */
export async function readCurrentState(context: Context, environmentId: string): Promise<Readable | null> {
  const environment = await context.db
    .selectFrom('environment')
    .select('current_state_version_id')
    .where('id', '=', environmentId)
    .executeTakeFirst();
  const id = environment?.current_state_version_id;
  const version = id ? await getStateVersion(context.db, id) : undefined;
  return version ? readStateContent(context, version) : null;
}

export function readStateContent(context: Pick<Context, 'blobs'>, version: Pick<StateVersionRow, 'blob'>): Readable {
  return context.blobs.get(version.blob);
}
