/** Types of columns that are text, numbers or JSON to the database. */
import type { FlowScope } from '#contract/custom-flows/shapes.ts';

export interface Columns {
  'flow_assignment.scope': FlowScope;
}
