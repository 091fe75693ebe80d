/** Types of columns that are text, numbers or JSON to the database. */
import type { Member } from '#contract/organizations/shapes.ts';

export interface Columns {
  'organization_member.status': Member['status'];
}
