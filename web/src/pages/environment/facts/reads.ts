/** Reads of the page of an environment, and the parts that its changes concern. */
import type { OperationName } from '#contract/operations.ts';
import type { Reply } from '../../../api/queries.ts';
import type { Rights } from '../../../api/rights.ts';

export type EnvironmentReply = Reply<'getEnvironment'>;
export type LatestDeploymentReply = Reply<'getDeployment'>;

/** Properties of every part of the page. */
export interface EnvironmentProps {
  readonly environment: EnvironmentReply;
  readonly rights: Rights;
}

/** Reads that show an environment. */
export const environmentReads = [
  'getEnvironment',
  'listEnvironments',
] as const satisfies readonly OperationName[];
/** Reads that show its deployments too. */
export const deploymentReads = [
  ...environmentReads,
  'listDeployments',
  'getDeployment',
] as const satisfies readonly OperationName[];
