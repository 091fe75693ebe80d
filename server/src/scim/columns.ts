/** What columns hold that are JSON to the database. */
import type { UserAttributes } from './resource.ts';

export interface Columns {
  'scim_user.attributes': UserAttributes;
}
