/** Types of columns that are text, numbers or JSON to the database. */
import type { SetAssignmentScope } from '#contract/configuration-sets/shapes.ts';

export interface Columns {
  'configuration_set_assignment.scope': SetAssignmentScope;
}
