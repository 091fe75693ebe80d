/** Which reads show what an event tells: a page stays current by having its reads here. */
import type { OrganizationStreamEvent } from '#contract/feeds/shapes.ts';
import type { OperationName } from '#contract/operations.ts';

const ofEnvironment: readonly OperationName[] = ['listEnvironments', 'getEnvironment'];
const ofDeployment: readonly OperationName[] = [
  ...ofEnvironment,
  'listDeployments',
  'getDeployment',
  'getDeploymentTimeline',
  'listEnvironmentOutputs',
  'listDeploymentResources',
  'listStateVersions',
  'getStateLock',
];

/** @returns names of the reads that are asked again */
export function readsOf({ event }: OrganizationStreamEvent): readonly OperationName[] {
  switch (event) {
    case 'deployment':
      return ofDeployment;
    case 'step':
      return ['listSteps'];
    case 'environment':
      return [...ofEnvironment, 'getEnvironmentSchedule', 'listEnvironmentTags'];
    default:
      return [];
  }
}
