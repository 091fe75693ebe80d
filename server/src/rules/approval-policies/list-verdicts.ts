/** The latest verdicts of a policy, as far as the caller may see the environments. */
import type { GivenVerdict } from '#contract/approval-policies/shapes.ts';
import type { ActorContext } from '../../framework/context.ts';
import { newestVerdicts, verdictView } from '../../rows/approval-policies/verdict-store.ts';
import { getDeploymentPlaces } from '../../rows/deployments/deployment-places-store.ts';
import { getEnvironmentRows } from '../../rows/environments/environment-store.ts';
import { inEnvironment } from '../../rows/places.ts';

/** @param page of all verdicts, also of those that the caller may not see */
export async function listVerdictsOf(
  { db, actor }: ActorContext,
  policyId: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<GivenVerdict[]> {
  const rows = await newestVerdicts(db, policyId, page);
  const places = await getDeploymentPlaces(
    db,
    rows.map((row) => row.deployment_id),
  );
  const deployments = new Map(places.map((place) => [place.id, place]));
  const environments = new Map(
    (await getEnvironmentRows(db, [...new Set(places.map((place) => place.environment_id))])).map((row) => [
      row.id,
      row,
    ]),
  );
  return rows.flatMap((row) => {
    const deployment = deployments.get(row.deployment_id);
    const environment = environments.get(deployment?.environment_id ?? '');
    if (!deployment || !environment) return [];
    if (!actor.access.has('VIEW_ENVIRONMENT', inEnvironment(environment))) return [];
    return {
      ...verdictView(row),
      deploymentId: deployment.id,
      deploymentType: deployment.type,
      environmentId: environment.id,
      environmentName: environment.name,
      projectId: environment.project_id,
    };
  });
}
