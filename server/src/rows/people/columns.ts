/** What columns hold that are JSON to the database. */
import type { GrantedPermissions } from '#contract/people/shapes.ts';

export interface Columns {
  'invitation.permissions': GrantedPermissions;
}
