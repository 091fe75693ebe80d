/** The content of states, for runs and for people with the right. */
import type { Readable } from 'node:stream';
import { beginReading } from '../http/begin-reading.ts';
import type { Context } from '../context.ts';
import { getEnvironmentRow } from '../environments/environment-store.ts';
import { getStateVersion, type StateVersionRow } from './state-store.ts';

async function currentVersion(context: Context, environmentId: string): Promise<StateVersionRow | undefined> {
  const environment = await getEnvironmentRow(context.db, environmentId);
  const id = environment?.current_state_version_id;
  return id ? getStateVersion(context.db, id) : undefined;
}

/**
 * @returns the environment's current state, or null where it has none
 * @throws Refusal 404 where its content is lost
 */
export async function readCurrentState(context: Context, environmentId: string): Promise<Readable | null> {
  for (let before: string | null = null; ; ) {
    const version = await currentVersion(context, environmentId);
    if (!version) return null;
    try {
      return await beginReading(readStateContent(context, version), `State version ${version.id}`);
    } catch (error) {
      // While a run is at work, its newer content replaces the one that was found.
      if (version.blob.id === before) throw error;
      before = version.blob.id;
    }
  }
}

export function readStateContent(
  context: Pick<Context, 'blobs'>,
  version: Pick<StateVersionRow, 'blob'>,
): Readable {
  return context.blobs.get(version.blob);
}
