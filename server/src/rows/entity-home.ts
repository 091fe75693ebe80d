/** From any entity to the place that it belongs to: what rights are checked against. */
import type { Connection } from '../framework/context.ts';
import type { Place } from './places.ts';

export interface FindHome {
  /** @returns where the entity with this id is, or undefined if there is none */
  (db: Connection, id: string): Promise<Place | undefined>;
  /**
   * Whether the access version of the organization rises when such an entity is created, moved or deleted: what
   * was found holds for as long as that is the same.
   */
  readonly isVersioned?: true;
}

/** A lookup whose results hold for as long as the access version of their organization is the same. */
export function versioned(find: FindHome): FindHome {
  return Object.assign(find, { isVersioned: true as const });
}

/** Finders of the home of each entity, by the name that operations use for it. */
export type Homes = ReadonlyMap<string, FindHome>;

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text can be an id at all; PostgreSQL refuses to compare others. */
export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}

interface HomeRow {
  readonly organization_id: string;
  readonly project_id?: string | null;
  readonly environment_id?: string | null;
}

/**
 * The lookup of an entity whose ids are UUIDs.
 * @param find reads the columns of the home by id
 */
export function homeById(find: (db: Connection, id: string) => Promise<HomeRow | undefined>): FindHome {
  return async (db, id) => {
    const row = isUuid(id) ? await find(db, id) : undefined;
    return (
      row && {
        organizationId: row.organization_id,
        projectId: row.project_id ?? null,
        environmentId: row.environment_id ?? null,
      }
    );
  };
}
