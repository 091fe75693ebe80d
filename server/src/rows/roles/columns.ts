/** Types of columns that are text, numbers or JSON to the database. */
import type { Right } from '#contract/schema/enumerations.ts';

export interface Columns {
  'role.permissions': Right[];
}
