/** A row of the table of deployments, as far as decisions need it. */
import type { Selectable } from 'kysely';
import type { DeploymentTable } from '../schema.ts';

/** What its runs found, up to megabytes each: read only to be shown. */
export type FoundColumn =
  | 'plan'
  | 'output'
  | 'sealed_output'
  | 'resources'
  | 'unrecorded_resources'
  | 'cost_estimation'
  | 'diagnostics'
  | 'git_metadata'
  | 'provider_versions'
  | 'module_versions';

/** What its runs were given, up to megabytes each: read only where a run begins, or to be shown. */
export type GivenColumn = 'variables' | 'sealed_inputs';

/** A deployment with what was decided about it, without what its runs were given and found. */
export type DeploymentRow = Omit<Selectable<DeploymentTable>, FoundColumn | GivenColumn>;
