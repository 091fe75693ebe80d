/** Operations about one entity whose id is in the path. */
import { Type } from 'typebox';
import { Name } from './schema.ts';

export const byId = Type.Object({ id: Name });

/** The parameters and the subject of an operation about the entity with the `id` of its path. */
export function aboutOne(entity: string) {
  return { params: byId, subject: { entity, in: 'params', field: 'id' } } as const;
}
