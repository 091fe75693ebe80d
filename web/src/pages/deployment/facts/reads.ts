/** Reads of the deployment page: the parts that change, and apart from them the large parts, which do not. */
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { Plan } from '#contract/deployments/plan.ts';
import type { DeploymentLevel } from '#contract/deployments/shapes.ts';
import { type Reply, read, useRead } from '../../../api/queries.ts';

export type DeploymentReply = Reply<'getDeployment'>;
type DeploymentPart = 'plan' | 'earlierLevels' | 'output' | 'resources' | 'variables';

const largeParts: readonly DeploymentPart[] = ['plan', 'earlierLevels', 'output', 'resources', 'variables'];

/** The deployment without its large parts: read again with each of its events. */
export function useHead(id: string): UseQueryResult<DeploymentReply> {
  return useRead('getDeployment', { params: { id }, query: { exclude_fields: largeParts.join(',') } });
}

/** A large part under a key of its own, so that events do not read it again: a part changes with its version. */
function readPart(head: DeploymentReply | undefined, part: DeploymentPart, version: readonly unknown[]) {
  const { queryFn } = read('getDeployment', {
    params: { id: head?.id ?? '' },
    query: { fields: part },
  });
  return {
    queryKey: ['part of a deployment', part, head?.id, ...version],
    queryFn: queryFn as () => Promise<Partial<DeploymentReply>>,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    enabled: head !== undefined,
  } as const;
}

/** The plan; null: there is none. */
export function usePlan(head: DeploymentReply | undefined): UseQueryResult<Plan | null> {
  return useQuery({
    ...readPart(head, 'plan', [head?.planHash, head?.finishedAt]),
    select: ({ plan }) => plan ?? null,
  });
}

/** The plans that were applied before, of a deployment in levels: there is one for each level below its own. */
export function useEarlierLevels(head: DeploymentReply): UseQueryResult<readonly DeploymentLevel[]> {
  return useQuery({
    ...readPart(head.level === undefined ? undefined : head, 'earlierLevels', [head.id, head.level]),
    select: ({ earlierLevels }) => earlierLevels ?? [],
  });
}

/** Outputs or variables. */
export function usePart(
  head: DeploymentReply,
  part: 'output' | 'variables',
): UseQueryResult<Partial<DeploymentReply>> {
  return useQuery(readPart(head, part, [head.status, head.finishedAt]));
}
