/** Types of columns that are text, numbers or JSON to the database. */
import type { StepStatus } from '#contract/schema/enumerations.ts';

export interface Columns {
  'deployment_step.status': StepStatus;
}
