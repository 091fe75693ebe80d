/** A row of the table of deployments, as far as decisions need it. */
import type { Selectable } from 'kysely';
import type { DeploymentTable } from '../schema.ts';

/** Results of its runs, up to megabytes each: read only for display. */
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

/** Inputs of its runs, up to megabytes each: read only when a run begins, or for display. */
export type InputColumn = 'variables' | 'sealed_inputs';

/** A deployment with what was decided about it, without the inputs and results of its runs. */
export type DeploymentRow = Omit<Selectable<DeploymentTable>, FoundColumn | InputColumn>;
