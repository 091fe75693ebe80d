/** Finds the home of an entity, from memory where nothing can have changed it. */
import { LruMap } from 'toad-cache';
import type { FindHome } from '../../rows/entity-home.ts';
import type { Place } from '../../rows/places.ts';
import type { Context } from '../context.ts';
import { perServer } from '../events/per-server.ts';
import type { Access } from './access.ts';

interface KeptHome {
  readonly home: Place;
  readonly version: string;
}

const keptOf = perServer(() => new LruMap<KeptHome>(10_000));

/**
 * @param access of the caller, loaded before: its version must not be newer than the home that is found
 * @param find how to find the home of the entity with this id
 */
export async function homeFor(
  context: Pick<Context, 'db' | 'events'>,
  access: Access,
  find: FindHome,
  id: string,
): Promise<Place | undefined> {
  if (!find.isVersioned) return find(context.db, id);
  const kept = keptOf(context);
  const found = kept.get(id);
  if (found && found.version === access.versionOf(found.home.organizationId)) return found.home;
  const home = await find(context.db, id);
  if (!home) return undefined;
  const version = access.versionOf(home.organizationId);
  if (version !== undefined) kept.set(id, { home, version });
  return home;
}
