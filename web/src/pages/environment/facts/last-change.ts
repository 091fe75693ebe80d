/** The deployment whose resources and outputs an environment has now. */
import type { UseQueryResult } from '@tanstack/react-query';
import type { Deployment } from '#contract/deployments/shapes.ts';
import { type ListPage, usePage } from '../../../api/queries.ts';

/**
 * The last deployments that succeeded in a change; later ones that failed or changed nothing have no outputs.
 * The first of the page counts, unless it is a destroy.
 */
export function useLastSuccess(id: string): UseQueryResult<ListPage<Deployment[]>> {
  return usePage('listDeployments', {
    params: { id },
    query: { deploymentTypes: 'deploy,destroy', statuses: 'SUCCESS', limit: 1 },
  });
}

/** The last deployments and destroys, whatever came of them: the first with a count of resources counts. */
export function useLastChanges(id: string): UseQueryResult<ListPage<Deployment[]>> {
  return usePage('listDeployments', {
    params: { id },
    query: { deploymentTypes: 'deploy,destroy', limit: 100 },
  });
}
