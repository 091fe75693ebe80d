/** The outputs of a project that variables can refer to. */
import type { EnvironmentOutput } from '#contract/deployments/shapes.ts';
import type { ActorContext } from '../../../framework/context.ts';
import { lastOutputsOf } from '../../../rows/deployments/last-outputs-store.ts';
import { environmentsOfProjects } from '../../../rows/environments/environment-store.ts';
import { inEnvironment } from '../../../rows/places.ts';
import { projectsWithOutputsAsInputs } from '../../../rows/project-policies/policy-store.ts';

/** By the names of environment and output; none where the policy of the project does not allow it. */
export async function listOutputs(
  { db, actor }: ActorContext,
  projectId: string,
): Promise<EnvironmentOutput[]> {
  if ((await projectsWithOutputsAsInputs(db, [projectId])).size === 0) return [];
  const environments = (await environmentsOfProjects(db, [projectId])).filter((row) =>
    actor.access.has('VIEW_ENVIRONMENT', inEnvironment(row)),
  );
  const last = await lastOutputsOf(
    db,
    environments.map(({ id }) => id),
  );
  const outputs = new Map(
    last.flatMap(({ environment_id, type, output }) =>
      type === 'destroy' ? [] : [[environment_id, output ?? {}]],
    ),
  );
  return environments.flatMap(({ id: environmentId, name: environmentName }) =>
    Object.entries(outputs.get(environmentId) ?? {})
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, { sensitive }]) => ({
        id: `${environmentId}:${name}`,
        environmentId,
        name,
        isSensitive: sensitive,
        environmentName,
      })),
  );
}
