/** Parts of the requests of bulk operations. */
import type { Environment } from '#contract/environments/shapes.ts';

/** Columns of an environment that is sent. */
export type BulkTarget = Pick<Environment, 'id' | 'latestDeploymentLog'>;

/** By environment, the plan that the person has seen. */
export function planHashesOf(environments: readonly BulkTarget[]): Record<string, string> {
  return Object.fromEntries(
    environments.flatMap(({ id, latestDeploymentLog: { planHash } }) =>
      planHash === undefined ? [] : [[id, planHash]],
    ),
  );
}

/** Environments of one request, in the order of the list. */
export function partsOf<Item>(items: readonly Item[], most: number): Item[][] {
  const count = Math.ceil(items.length / most);
  return Array.from({ length: count }, (_, at) => items.slice(at * most, (at + 1) * most));
}
