/** Types of columns that are text to the database. */
import type { Policy } from '#contract/project-policies/shapes.ts';

export interface Columns {
  'project_policy.auto_drift_remediation': NonNullable<Policy['autoDriftRemediation']>;
}
