import { randomUUID } from 'node:crypto';
import { ok } from '../client.ts';
import type { MakeSample } from '../samples.ts';

const body = { name: 'shared', type: 'terraform', repository: 'https://git.example.com/network.git' };

export const sample: MakeSample = async (app) => {
  const { organizationId, projectId } = app;
  const template = await ok(app, 'createTemplate', {
    body: { ...body, organizationId, projectIds: [projectId] },
  });
  return {
    ids: { template: template.id ?? '' },
    bodies: {
      createTemplate: { ...body, organizationId, name: randomUUID() },
      updateTemplate: body,
      addTemplateToProject: { projectId },
      createEnvironment: {
        name: 'network',
        projectId,
        deployRequest: { blueprintId: template.id },
        preventAutoDeploy: true,
      },
    },
  };
};
