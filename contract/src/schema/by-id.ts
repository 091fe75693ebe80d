/** Parts of operations about one entity whose id is in the path, or about the organization that the query names. */
import { Type } from 'typebox';
import { Name, Text } from './schema.ts';

export const byId = Type.Object({ id: Name });

/** The parameters and the subject of an operation about the entity with the `id` of its path. */
export function aboutOne(entity: string) {
  return { params: byId, subject: { entity, in: 'params', field: 'id' } } as const;
}

/** The query and the subject of an operation about the organization that the query names, and nothing else. */
export const inOrganization = {
  subject: { entity: 'organization', in: 'query', field: 'organizationId' },
  query: Type.Object({ organizationId: Text }),
} as const;
