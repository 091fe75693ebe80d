/** SQL of organizations and their members. */
import { homeById } from '../access/entity-home.ts';

/** Where an organization lives: in itself. */
export const organizationHome = homeById((db, id) =>
  db.selectFrom('organization').select('id as organization_id').where('id', '=', id).executeTakeFirst(),
);
