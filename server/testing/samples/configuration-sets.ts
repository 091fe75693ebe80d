import { ok } from '../client.ts';
import type { MakeSample } from '../samples.ts';

export const sample: MakeSample = async (app, environment) => {
  const { organizationId } = app;
  const set = { name: 'sample', scope: 'organization', scopeId: organizationId };
  const { id } = await ok(app, 'createConfigurationSet', { body: set });
  return {
    ids: { configurationSet: id, creationScope: organizationId, assignmentScope: environment.id },
    bodies: { createConfigurationSet: { ...set, name: 'another' } },
    queries: { assignConfigurationSets: { setIds: id }, unassignConfigurationSets: { setIds: id } },
  };
};
