/** Types of columns that are text, numbers or JSON to the database. */

import type { Ttl } from '#contract/deployments/deploy-request.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import type { DriftStatus, EnvironmentStatus } from '#contract/schema/enumerations.ts';

export interface Columns {
  'environment.drift_status': DriftStatus;
  'environment.marked_for_auto_destroy': Environment['markedForAutoDestroy'];
  'environment.resting_status': EnvironmentStatus;
  'environment.status': EnvironmentStatus;
  'environment.ttl': Ttl;
}
