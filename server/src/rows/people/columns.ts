/** JSON types of columns. */
import type { GrantedPermissions } from '#contract/people/shapes.ts';

export interface Columns {
  'invitation.permissions': GrantedPermissions;
}
