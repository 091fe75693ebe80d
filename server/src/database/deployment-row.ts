/** A row of the table of deployments, as far as decisions need it. */
import type { Selectable } from 'kysely';
import type { DeploymentTable } from './schema.ts';

/** What its runs found, up to megabytes each: read only to be shown. */
export type FoundColumn =
  | 'plan'
  | 'output'
  | 'sealed_output'
  | 'resources'
  | 'unrecorded_resources'
  | 'git_metadata'
  | 'provider_versions'
  | 'module_versions';

/** A deployment with what was decided about it, without what its runs found. */
export type DeploymentRow = Omit<Selectable<DeploymentTable>, FoundColumn>;
