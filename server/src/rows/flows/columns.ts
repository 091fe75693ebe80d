/** What columns hold that are text, numbers or JSON to the database. */
import type { FlowScope } from '#contract/flows/shapes.ts';

export interface Columns {
  'flow_assignment.scope': FlowScope;
}
