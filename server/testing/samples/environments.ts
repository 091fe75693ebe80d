import { randomUUID } from 'node:crypto';
import { ok } from '../client.ts';
import { createBody } from '../environment.ts';
import type { MakeSample } from '../samples.ts';

export const sample: MakeSample = async (app, environment) => {
  const [version] = await ok(app, 'listStateVersions', { id: environment.id });
  return {
    ids: {
      environment: environment.id,
      deployment: environment.latestDeploymentLogId ?? '',
      template: environment.blueprintId,
      // Without a version, one that does not exist.
      stateVersion: version?.id ?? randomUUID(),
    },
    bodies: {
      createEnvironmentWithoutTemplate: createBody(app, { preventAutoDeploy: true }),
      moveEnvironment: { projectId: app.projectId },
      setEnvironmentTemplate: { newName: 'shared' },
      updateEnvironmentTtl: { type: 'INFINITE' },
    },
  };
};
