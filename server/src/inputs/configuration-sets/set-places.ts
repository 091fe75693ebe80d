/** The places that a set is assigned to, by name. */
import type { SetPlace } from '#contract/configuration-sets/shapes.ts';
import { viewRightAt } from '../../framework/access/access.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import {
  type AssignmentScope,
  assignmentsOf,
  type SetRow,
} from '../../rows/configuration-sets/configuration-set-store.ts';
import { getEnvironmentRows } from '../../rows/environments/environment-store.ts';
import { getOrganizationRow } from '../../rows/organizations/organization-store.ts';
import { inEnvironment, inProject, type Place } from '../../rows/places.ts';
import { getProjectRows } from '../../rows/projects/project-store.ts';
import { getModule } from '../../rows/registry/module-store.ts';
import { getTemplateRows } from '../../rows/templates/template-store.ts';

interface SetPlaceEntry {
  readonly shown: Omit<SetPlace, 'scope' | 'scopeId'>;
  readonly place: Place;
}

type FindPlaces = (db: Connection, ids: readonly string[]) => Promise<Map<string, SetPlaceEntry>>;

function byId<Row extends { readonly id: string }>(rows: readonly Row[], found: (row: Row) => SetPlaceEntry) {
  return new Map(rows.map((row) => [row.id, found(row)]));
}

/** Something that belongs to the organization, or to one of its projects. */
const at = (organizationId: string, projectId: string | null = null): Place => ({
  ...{ organizationId, projectId },
  environmentId: null,
});

const finders: Readonly<Record<SetPlace['scope'], FindPlaces>> = {
  organization: async (db, [id = '']) => {
    const row = await getOrganizationRow(db, id);
    return byId(row ? [row] : [], ({ name }) => ({ shown: { name }, place: at(id) }));
  },
  project: async (db, ids) =>
    byId(await getProjectRows(db, ids), (row) => ({ shown: { name: row.name }, place: inProject(row) })),
  template: async (db, ids) => {
    const rows = (await getTemplateRows(db, ids)).filter((row) => !row.is_deleted);
    return byId(rows, ({ name, organization_id, project_id: projectId }) => ({
      shown: { name, ...(projectId === null ? {} : { projectId }) },
      place: at(organization_id, projectId),
    }));
  },
  environment: async (db, ids) =>
    byId(await getEnvironmentRows(db, ids), (row) => ({
      shown: { name: row.name, projectId: row.project_id },
      place: inEnvironment(row),
    })),
  module: async (db, ids) => {
    const rows = await Promise.all(ids.map((id) => getModule(db, id)));
    const kept = rows.filter((row) => row !== undefined).filter((row) => !row.is_deleted);
    return byId(kept, ({ name, provider, organization_id }) => ({
      shown: { name: `${name}/${provider}` },
      place: at(organization_id),
    }));
  },
  deployment: async () => new Map(),
};

/** Whether the caller may see that there is such a place. */
function isVisible({ actor }: ActorContext, scope: SetPlace['scope'], place: Place): boolean {
  if (scope === 'environment') return actor.access.has('VIEW_ENVIRONMENT', place);
  return actor.access.has(scope === 'module' ? 'VIEW_MODULES' : viewRightAt(place), place);
}

/** Those that the caller may see, in the order of assignment. */
export async function placesOfSet(context: ActorContext, { id }: Pick<SetRow, 'id'>): Promise<SetPlace[]> {
  const assigned = await assignmentsOf(context.db, id);
  const byScope = Map.groupBy(assigned, ({ scope }) => scope);
  const found = new Map(
    await Promise.all(
      [...byScope].map(
        async ([scope, places]) =>
          [
            scope,
            await finders[scope](
              context.db,
              places.map(({ scopeId }) => scopeId),
            ),
          ] as const,
      ),
    ),
  );
  return assigned.flatMap(({ scope, scopeId }: AssignmentScope) => {
    const place = found.get(scope)?.get(scopeId);
    return place && isVisible(context, scope, place.place) ? [{ scope, scopeId, ...place.shown }] : [];
  });
}
